"""Checks of arguments; the errors name the argument."""

import math


def require(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} = {value!r} must be a positive, finite number")


def require_not_negative(**numbers: float) -> None:
    for name, value in numbers.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} = {value!r} must be a finite number, at least 0")


def require_q(q: float) -> None:
    if not 0 < q <= 1:
        raise ValueError(f"q = {q!r} must be positive and at most 1")


def require_counts(least: int, **counts: int) -> None:
    for name, value in counts.items():
        if not least <= value < math.inf or value != int(value):
            raise ValueError(f"{name} = {value!r} must be a whole number, at least {least}")
