"""Checks of constructor arguments; the errors name the field."""

from collections.abc import Iterable
from numbers import Integral, Real
from typing import TypeVar

T = TypeVar("T")

_LARGEST = 1e30
"""Far beyond any use, and small enough that products with inputs stay finite."""


def positive(field: str, value: float) -> float:
    """Return `value` as a float in (0, 1e30]."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{field} is {value!r}: it must be a number")
    if not 0.0 < value <= _LARGEST:
        raise ValueError(f"{field} is {value!r}: it must be positive and at most {_LARGEST:g}")
    return float(value)


def at_least_one(field: str, value: int) -> int:
    """Return `value` as an int, 1 or more."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{field} is {value!r}: it must be an integer")
    if value < 1:
        raise ValueError(f"{field} is {value!r}: it must be at least 1")
    return int(value)


def entries(field: str, values: Iterable[T]) -> tuple[T, ...]:
    """Return `values` as a tuple."""
    if not isinstance(values, Iterable):
        raise TypeError(f"{field} is {values!r}: it must be a tuple")
    return tuple(values)
