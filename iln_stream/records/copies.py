"""Inputs that say what the label says, which they may not before it is known."""

from collections.abc import Mapping, Sequence
from itertools import islice, permutations, takewhile
from math import isclose
from operator import add, mul, sub
from statistics import StatisticsError, correlation
from typing import Any

from iln_stream.records.inspected import FEW
from iln_stream.records.time_spans import is_monotonic

_MOST_COLUMNS = 100
"""Numbers whose pairs are looked at: of more, it would take seconds."""


def is_copy(numbers: Sequence[float | None], labels: Sequence[float | None]) -> bool:
    """Whether numbers are proportional to labels; or order them, and not just as time does."""
    pairs = [(a, b) for a, b in zip(numbers, labels, strict=False) if a is not None is not b]
    if len(numbers) != len(labels) or len(pairs) < FEW:
        return False
    ordered = [[b for _, b in sorted((sign * a, b) for a, b in pairs)] for sign in (1, -1)]
    try:
        proportional = abs(correlation(*zip(*pairs, strict=True))) > 0.99999
    except (StatisticsError, OverflowError):  # one value; an infinite sum
        return False
    grows = is_monotonic([a for a, _ in pairs])
    return proportional or (not grows and any(each == sorted(each) for each in ordered))


def tells(values: Sequence[Any], labels: Sequence[Any]) -> bool:
    """Return whether each of a few values comes with one class only."""
    pairs = {*zip(map(str, values), map(str, labels), strict=False)}
    n_known, n_classes = (len({pair[at] for pair in pairs}) for at in (0, 1))
    are_few = len(values) == len(labels) >= FEW * n_known
    return are_few and 1 < n_classes <= len(pairs) == n_known


def parts_of(columns: Mapping[str, Sequence[Any]], labels: Sequence[Any]) -> tuple[str, ...]:
    """Return two numbers that make each label, but for its rounding, and the sign between them."""
    digits = max((len(repr(y).partition(".")[2].rstrip("0")) for y in labels if y), default=0)
    rounding = 1.5 * 10.0**-digits if digits else 0.0
    looked_at = columns if len(columns) <= _MOST_COLUMNS else {}
    for (a, left), (b, right) in permutations(looked_at.items(), 2):
        for sign, make in (("+", add), ("-", sub), ("*", mul)):
            same = (
                isclose(make(x, z), y, rel_tol=1e-9, abs_tol=rounding)
                for x, z, y in zip(left, right, labels, strict=False)
                if None not in (x, z, y)
            )
            if len([*takewhile(bool, islice(same, FEW))]) == FEW and all(same):
                return a, sign, b
    return ()
