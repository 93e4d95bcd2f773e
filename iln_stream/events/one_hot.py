"""From an event's inputs to the numbers a learner takes."""

from collections.abc import Mapping


def one_hot(x: Mapping[str, float | bool | str | None]) -> dict[str, float]:
    """Return x with a string v of input k as `"k=v": 1.0` and booleans as 0.0 or 1.0.

    Null is left out: to a learner, absent is 0 observed.

    Examples
    --------
    >>> one_hot({"wind": 3.5, "sky": "clear", "holiday": True, "rain": None})
    {'wind': 3.5, 'sky=clear': 1.0, 'holiday': 1.0}

    """
    numbers = {}
    for name, value in x.items():
        if isinstance(value, str):
            numbers[f"{name}={value}"] = 1.0
        elif value is not None:
            numbers[name] = float(value)
    return numbers
