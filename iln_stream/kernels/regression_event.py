"""An event of a regression learner apart from its experts: target's scale, drift, memory."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import (
    COUNT,
    HIGH,
    LOW,
    MEAN,
    SQUARES,
    join,
    join_value,
    standardise,
)
from iln_stream.kernels.jit import compiled

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
def unscale(t, center, unit, n, y):  # type: ignore[no-untyped-def]
    """Write scaled values t (K,) in the target's units to the n-th event's row of a ring (N, K)."""
    i = n % y.shape[0]
    for k in range(t.shape[0]):
        y[i, k] = center + unit * t[k]


@compiled
def join_target(y, target, n):  # type: ignore[no-untyped-def]
    """Add y, the target of the n-th event, to the statistics."""
    join_value(y, target, 0, n)
    target[LOW, 0] = min(target[LOW, 0], y)
    target[HIGH, 0] = max(target[HIGH, 0], y)


EVENTS, FAST, SLOW = range(3)
"""Indices into the record."""

LARGEST_ERROR = 2.0


@compiled
def join_drift(record, error):  # type: ignore[no-untyped-def]
    """Add |error|, in units of the target's scale, to the means over about 50 and 1000 events."""
    bounded = min(error, LARGEST_ERROR)
    record[EVENTS] += 1.0
    record[FAST] += (bounded - record[FAST]) / min(record[EVENTS], 50.0)
    record[SLOW] += (bounded - record[SLOW]) / min(record[EVENTS], 1000.0)


class StoredEvents(NamedTuple):
    """A ring buffer of N events: raw rows, columns (d, N), targets before each, targets, weights.

    Columns are rows of the array, so that a search over events reads each column in one go. Pass it
    to a compiled function as a plain tuple: numba takes twice the time to recognise a named one.
    """

    columns: NDArray[Any]
    lags: NDArray[Any]
    y: NDArray[Any]
    weights: NDArray[Any]


@compiled
def describe(x, stats, target, lags, n, row, v):  # type: ignore[no-untyped-def]
    """v = [last targets, deviations] of the raw row x; also write its completed values to `row`.

    n is the number of events so far. Returns the target's center and unit.
    """
    center, unit = center_and_unit(target)
    n_lags = lags.shape[0]
    for i in range(n_lags):
        v[i] = 3.0 * scaled(lags[i], center, unit) if n > i else 0.0
    standardise(x, stats, row, v[n_lags:])
    return center, unit


@compiled
def observe(x, y, w, row, prediction, stats, target, lags, n, drift, memory):  # type: ignore[no-untyped-def]
    """Store the n-th event in the memory, and update the statistics, lags and drift by it.

    w is its weight, which is only stored: scales and drift are of all events alike.

    `memory` is a `StoredEvents`. Returns the scaled target, by the statistics that include y.
    """
    stored = StoredEvents(*memory)
    _, unit = center_and_unit(target)
    if n == 0:
        lags[:] = y
    join_drift(drift, abs(y - prediction) / unit)
    i = n % stored.y.shape[0]
    for j in range(row.shape[0]):
        stored.columns[j, i] = row[j]
    for j in range(lags.shape[0]):
        stored.lags[i, j] = lags[j]
    stored.y[i] = y
    stored.weights[i] = w
    join(x, stats, n)
    join_target(y, target, n)
    center, unit = center_and_unit(target)
    for j in range(lags.shape[0] - 1, 0, -1):
        lags[j] = lags[j - 1]
    if lags.shape[0] > 0:
        lags[0] = y
    return scaled(y, center, unit)
