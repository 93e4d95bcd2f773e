"""Checks of a learner's arguments; the errors name the field."""

import math
from contextlib import suppress
from numbers import Real
from typing import Any

from iln_stream.features import Features

LARGEST_TARGET = 1e15
"""Targets are clipped here, so that ||alpha||_1 stays far from overflow for any input."""

LARGEST_WEIGHT = 1e6
"""Larger weights of events are refused: they would leave no digits for the others."""


def require_family(features: Any) -> None:
    """Reject what is neither None nor a family of hidden units."""
    if isinstance(features, type):
        raise ValueError(f"features = {features.__name__} is a class: give an instance of it")
    if features is not None and not isinstance(features, Features):
        raise ValueError(
            f"features = {features!r} must be a family with q, draw and psi, such as "
            "iln_stream.features.GaussianFourier()"
        )


def not_a_mapping(x: Any) -> TypeError:
    """Return the error of an event whose inputs have no names, with its remedy."""
    return TypeError(
        f"x is {x!r:.60}: it must be a dict of names and numbers, such as {{'a': 1.5}}; for a "
        "table call learn_many or predict_many"
    )


def not_a_number(name: Any, value: Any) -> ValueError:
    """Return the error of an input that is not a finite number, with its remedy."""
    transformer = "or put iln_stream.RecordInputs() in front of the learner"
    if value is None:
        remedy = "leave out unknown values"
    elif isinstance(value, str) and _is_number(value):
        remedy = "convert it with float()"
    elif isinstance(value, str):
        remedy = f"write the category as {{'{name}={value:.20}': 1}}"
    elif isinstance(value, Real):
        remedy = "inputs must be finite numbers; leave out unknown values"
    else:
        remedy = "inputs must be numbers; convert it, a time to seconds for example"
    shown = value if isinstance(value, Real) else f"{value!r:.60}"
    return ValueError(f"x[{name!r}] is {shown}: {remedy}, {transformer}")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def number(name: str, value: Any) -> float:
    """Return an argument as a float; a text is refused, though float() might read it."""
    if value.__class__ is float:
        return value
    if not isinstance(value, str | bytes):
        with suppress(TypeError, ValueError):
            return float(value)
    remedy = ""
    if name == "y" and value is None:
        remedy = "; predict an event without a label, and learn it when you know it"
    elif name == "y":
        remedy = "; convert it with float(), or learn classes with an InfiniteLayerClassifier"
    raise ValueError(f"{name} is {value!r:.60}: it must be a number{remedy}")


def weight_of_event(w: float) -> float:
    """Return the weight of an event as a float.

    Raises
    ------
    ValueError
        When it is not a number from 0 to 1,000,000.

    """
    if w.__class__ is float and w == 1.0:
        return 1.0
    weight = number("w", w)
    if not 0.0 <= weight <= LARGEST_WEIGHT:
        raise ValueError(
            f"w = {w!r} must be a weight from 0 to {LARGEST_WEIGHT:,.0f}; if yours are larger, "
            "divide all of them by the same number"
        )
    return weight


def weight_keyword(w: float) -> dict[str, float]:
    """Return the argument that passes a weight on; none for 1."""
    w = weight_of_event(w)
    return {} if w == 1.0 else {"w": w}


def require_level(level: float) -> None:
    """Reject what is no probability between 0 and 1."""
    if not isinstance(level, Real) or not 0.0 < level < 1.0:
        raise ValueError(f"level = {level!r} must be a number between 0 and 1")


def require_profile(profile: str) -> None:
    """Reject what is no profile."""
    if profile not in ("accurate", "fast"):
        hint = f"; a seed is given by its name: seed={profile!r}" * isinstance(profile, int)
        raise ValueError(f"profile = {profile!r} must be 'accurate' or 'fast'{hint}")


def require_max_columns(max_columns: int) -> None:
    """Reject what is no whole number from 1."""
    if isinstance(max_columns, bool) or not isinstance(max_columns, int) or max_columns < 1:
        raise ValueError(
            f"max_columns = {max_columns!r} must be a whole number of names, at least 1"
        )


def require_positive(**numbers: float | None) -> None:
    """Reject numbers, given by name, that are neither None nor in (0, inf)."""
    for name, value in numbers.items():
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"{name} = {value!r} must be a positive, finite number")


def require_not_negative(**numbers: float) -> None:
    """Reject numbers, given by name, that are not in [0, inf)."""
    for name, value in numbers.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} = {value!r} must be a finite number, at least 0")


def require_q(q: float) -> None:
    """Reject a bound on E[psi^2 psi'^2] that is not in (0, 1]."""
    if not 0 < q <= 1:
        raise ValueError(f"q = {q!r} must be positive and at most 1")


def require_counts(least: int = 1, /, **counts: int | None) -> None:
    """Reject counts, given by name, that are neither None nor whole numbers from `least`."""
    for name, value in counts.items():
        if value is not None and not (least <= value < math.inf and value == int(value)):
            raise ValueError(f"{name} = {value!r} must be a whole number, at least {least}")


def require_choice(choices: tuple[str, ...], **chosen: str) -> None:
    """Reject values, given by name, that are not among the choices."""
    for name, value in chosen.items():
        if value not in choices:
            raise ValueError(f"{name} = {value!r} must be one of {', '.join(choices)}")


def clipped_target(y: float, bound: float = LARGEST_TARGET) -> float:
    """Return a finite target, clipped to +-`bound`."""
    y = number("y", y)
    if not math.isfinite(y):
        raise ValueError(f"y is {y}: a target must be a finite number")
    return max(-bound, min(y, bound))
