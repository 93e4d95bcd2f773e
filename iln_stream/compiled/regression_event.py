"""What happens to each event of a regression learner apart from its experts: describe, observe."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from iln_stream.compiled.column_statistics import join
from iln_stream.compiled.drift import join_drift
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.standardise import standardise
from iln_stream.compiled.target import center_and_unit, join_target, scaled


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
