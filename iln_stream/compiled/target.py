"""The target's scale."""

import numpy as np

from iln_stream.compiled.column_statistics import join_value
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.standardise import COUNT, HIGH, LOW, MEAN, SQUARES

WIDTH = 3.0
"""Standard deviations in one unit of the scale."""

FENCE = 2.0
"""Scaled targets are clipped here, at 6 sd."""


LARGEST = 1e6
"""A predictor that is further off, in units of the scale, has left all bounds. A linear one may
well extrapolate beyond the fence, but this needs weights of 1e5, and targets are within +-2."""


@compiled
def center_and_unit(target):  # type: ignore[no-untyped-def]
    """The mean and unit from the target's statistics (47, 1): 3 sd, or 1 while all agree."""
    n, mean, squares = target[COUNT, 0], target[MEAN, 0], target[SQUARES, 0]
    if squares <= 1e-26 * n * mean * mean or n == 0.0:
        return mean, 1.0
    unit = WIDTH * np.sqrt(squares / n)  # 0 where the quotient underflows
    return mean, 1.0 if unit == 0.0 else unit  # nan stays nan


@compiled
def scaled(y, center, unit):  # type: ignore[no-untyped-def]
    """A scaled target, clipped to +-2."""
    return min(max((y - center) / unit, -FENCE), FENCE)


@compiled
def fenced(prediction):  # type: ignore[no-untyped-def]
    """A predictor's output, clipped to +-2; nan if it has left all bounds."""
    if abs(prediction) <= LARGEST:
        return min(max(prediction, -FENCE), FENCE)
    return np.nan


@compiled
def unscale(t, center, unit, y):  # type: ignore[no-untyped-def]
    """Write scaled values t (K,) in units of the target to y (K,)."""
    for k in range(t.shape[0]):
        y[k] = center + unit * t[k]


@compiled
def join_target(y, target, n):  # type: ignore[no-untyped-def]
    """Add y, the target of the n-th event, to the statistics."""
    join_value(y, target, 0, n)
    target[LOW, 0] = min(target[LOW, 0], y)
    target[HIGH, 0] = max(target[HIGH, 0], y)
