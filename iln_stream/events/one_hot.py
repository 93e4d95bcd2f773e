"""From an event's inputs to the numbers a learner takes."""

from collections.abc import Mapping

from iln_stream.events.decode import MalformedError


def one_hot(x: Mapping[str, float | bool | str | None]) -> dict[str, float]:
    """Return x with a string v of input k as `"k=v": 1.0` and booleans as 0.0 or 1.0.

    Null is left out. What is absent the default learner takes for 0, where 0 is an ordinary value
    of the input (an indicator, or one whose values lie around 0), else for unknown.

    Raises
    ------
    MalformedError
        When two inputs would get one name.

    Examples
    --------
    >>> one_hot({"wind": 3.5, "sky": "clear", "holiday": True, "rain": None})
    {'wind': 3.5, 'sky=clear': 1.0, 'holiday': 1.0}

    """
    numbers = {}
    for name, value in x.items():
        if isinstance(value, str):
            category = f"{name}={value}"
            if category in x or category in numbers:
                raise MalformedError(f"x.{name}: two inputs would both be called {category!r}")
            numbers[category] = 1.0
        elif value is not None:
            numbers[name] = float(value)
    return numbers
