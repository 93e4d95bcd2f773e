"""The stored events nearest to a new one, and predictions from them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import COUNT, MEAN, SQUARES
from iln_stream.kernels.jit import compiled
from iln_stream.kernels.regression_event import scaled
from iln_stream.kernels.sort import first_at_least
from iln_stream.kernels.vectors import widest_vectors

_CHUNK = 256
"""Number of events whose distances are computed at once: they stay in the innermost cache."""


@compiled
def nearest(columns, n, row, scale, distances, which):  # type: ignore[no-untyped-def]
    """Write to `which` (k,) the indices of the k of n events nearest to `row`, nearest first.

    The distance sums the squares of differences in each column, times scale (d,) and clipped at 10:
    an outlier or an absent value is far away, but no further. columns (d, N), of which the first n
    are searched; distances (k,) is scratch. With n < k the first n entries are filled.
    """
    k = which.shape[0]
    chunk = np.empty(_CHUNK)
    distances[:] = 1e300
    for first in range(0, n, _CHUNK):
        size = min(_CHUNK, n - first)
        chunk[:] = 0.0
        for j in range(row.shape[0]):
            column, value, unit = columns[j, first : first + size], row[j], scale[j]
            if unit > 0.0:
                for i in range(size):
                    delta = min(max((column[i] - value) * unit, -10.0), 10.0)
                    chunk[i] += delta * delta
        for i in range(size):
            if chunk[i] < distances[k - 1]:
                at = k - 1
                while at > 0 and distances[at - 1] > chunk[i]:
                    distances[at] = distances[at - 1]
                    which[at] = which[at - 1]
                    at -= 1
                distances[at] = chunk[i]
                which[at] = first + i


@compiled
def most_alike(columns, n, row):  # type: ignore[no-untyped-def]
    """Index of the event nearest to `row` among the first n > 0; columns (d, N) are single.

    Of equally near events it is the first in the ring buffer.
    """
    chunk = np.empty(_CHUNK, np.float32)
    least = np.float32(np.inf)
    found = 0
    for first in range(0, n, _CHUNK):
        size = min(_CHUNK, n - first)
        chunk[:] = np.float32(0.0)
        for j in range(row.shape[0]):
            column, value = columns[j, first : first + size], np.float32(row[j])
            for i in range(size):
                delta = column[i] - value
                chunk[i] += delta * delta
        for i in range(size):
            if chunk[i] < least:
                least = chunk[i]
                found = first + i
    return found


@compiled
def median(values):  # type: ignore[no-untyped-def]
    """The median of a few values, which are sorted in place."""
    n = values.shape[0]
    for i in range(1, n):
        value = values[i]
        at = i
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
    return (values[(n - 1) // 2] + values[n // 2]) / 2.0


@compiled
def median_where(keys, carried, n, key, found):  # type: ignore[no-untyped-def]
    """Median of the values carried by the len(found) <= n entries with keys nearest to `key`.

    The first n keys are in ascending order; `found` is scratch.
    """
    right = first_at_least(keys, n, key)
    left = right - 1
    for i in range(found.shape[0]):
        if right == n or (left >= 0 and key - keys[left] <= keys[right] - key):
            found[i] = carried[left]
            left -= 1
        else:
            found[i] = carried[right]
            right += 1
    return median(found)


@compiled
def put_in_order(keys, carried, n, key, value, old_key, old_value):  # type: ignore[no-untyped-def]
    """Insert an entry into the first n, in ascending order of keys; if full, replace the old one.

    The old entry is found by its key and value; of equal entries any will do. If none is found, as
    with a key that is not a number, the one nearest to its place is replaced.
    """
    i = n
    if n == keys.shape[0]:
        i = min(first_at_least(keys, n, old_key), n - 1)
        while i + 1 < n and carried[i] != old_value and keys[i + 1] == old_key:
            i += 1
        while i + 1 < n and keys[i + 1] < key:
            keys[i] = keys[i + 1]
            carried[i] = carried[i + 1]
            i += 1
    while i > 0 and keys[i - 1] > key:
        keys[i] = keys[i - 1]
        carried[i] = carried[i - 1]
        i -= 1
    keys[i] = key
    carried[i] = value


@compiled
def set_metric(agop, n_lags, floor, stats, metric):  # type: ignore[no-untyped-def]
    """metric (d,): the weight of a difference in each column, 0 in a constant one.

    In standard deviations it is the root of the column's share in the mean outer product of
    gradients, `agop` (n_lags + d, n_lags + d), with `floor` under it: see `blended`.
    """
    d = metric.shape[0]
    trace = total = 0.0
    for i in range(d):
        trace += agop[n_lags + i, n_lags + i]
        for j in range(d):
            total += agop[n_lags + i, n_lags + j]
    level = trace / max(d, 1)
    known = level > 1e-300 and abs(total) < np.inf
    for j in range(d):
        share = agop[n_lags + j, n_lags + j] / level if known else 1.0
        n, mean, squares = stats[COUNT, j], stats[MEAN, j], stats[SQUARES, j]
        metric[j] = 0.0
        if squares > 1e-26 * n * mean * mean:
            sd = np.sqrt(squares / max(n, 1.0))
            metric[j] = np.sqrt((1.0 - floor) * share + floor) / sd


N_SIMILAR = 31
"""Number of events with about the same predicted mean, whose median target is one prediction."""

N_NEAR = 5
"""Number of nearest events in the relevant inputs, whose median target is another."""

N_FOUND = 32
"""Number of these that are found: others may use them."""

MEDIAN, NEIGHBOURS, NEAREST_AS_OF = range(3)
"""Indices of the predictions."""


class NeighbourTables(NamedTuple):
    """What is kept beside the N stored events to find the nearest.

    Parameters
    ----------
    means
        Predicted means, (N,), by slot in the ring buffer.
    ordered, carried
        The same in ascending order, and the targets in that order.
    deviations
        Inputs (d, N) in deviations by the statistics as of each event, in single precision.
    scaled
        Targets (N,) scaled by the statistics as of each event.

    """

    means: NDArray[Any]
    ordered: NDArray[Any]
    carried: NDArray[Any]
    deviations: NDArray[Any]
    scaled: NDArray[Any]


@compiled
def predict_neighbours(  # type: ignore[no-untyped-def]
    row, z, mean, center, unit, columns, y, n, metric, neighbours, found, p
):
    """Fill p (3,) from what is stored of n events; `mean` is the scaled predicted mean.

    `neighbours` is a `NeighbourTables`. The slots of the nearest events are written to `found`
    (32,); returns their number. While there are few events the first two predictions are
    the mean, and without any event the third is, too.
    """
    tables = NeighbourTables(*neighbours)
    widest_vectors()
    filled = min(n, y.shape[0])
    p[:] = mean
    if filled >= N_SIMILAR:
        distances = np.empty(N_FOUND)
        similar, near = np.empty(N_SIMILAR), np.empty(N_NEAR)
        middle = median_where(tables.ordered, tables.carried, filled, center + unit * mean, similar)
        p[MEDIAN] = scaled(middle, center, unit)
        nearest(columns, filled, row, metric, distances, found)
        for i in range(N_NEAR):
            near[i] = y[found[i]]
        p[NEIGHBOURS] = scaled(median(near), center, unit)
    if filled > 0:
        p[NEAREST_AS_OF] = tables.scaled[most_alike(tables.deviations, filled, z)]
    return min(filled, N_FOUND) if filled >= N_SIMILAR else 0


@compiled
def remember_neighbour(n, z, mean, y, old_y, t, neighbours):  # type: ignore[no-untyped-def]
    """Store an event after n others, in place of one of target old_y once all slots are in use.

    `mean` is the predicted mean in units of y, t the scaled target; `neighbours` is a
    `NeighbourTables`.
    """
    tables = NeighbourTables(*neighbours)
    means = tables.means
    i, filled = n % means.shape[0], min(n, means.shape[0])
    put_in_order(tables.ordered, tables.carried, filled, mean, y, means[i], old_y)
    means[i] = mean
    for j in range(z.shape[0]):
        tables.deviations[j, i] = z[j]
    tables.scaled[i] = t
