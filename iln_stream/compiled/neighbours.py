"""Predictions from the stored events nearest to a new one, in three senses."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.jit import compiled
from iln_stream.compiled.nearest import median, median_where, most_alike, nearest, put_in_order
from iln_stream.compiled.target import scaled
from iln_stream.compiled.wide import widest_vectors

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
    row, z, mean, center, unit, columns, y, filled, metric, neighbours, found, p
):
    """Fill p (3,) from the first `filled` stored events; `mean` is the scaled predicted mean.

    `neighbours` is a `NeighbourTables`. The slots of the nearest events are written to `found`
    (32,); returns their number. While there are few events the first two predictions are
    the mean, and without any event the third is, too.
    """
    tables = NeighbourTables(*neighbours)
    widest_vectors()
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
def remember_neighbour(i, filled, z, mean, y, old_y, t, neighbours):  # type: ignore[no-untyped-def]
    """Store an event in slot i, where `filled` slots were in use and the target was old_y.

    `mean` is the predicted mean in units of y, t the scaled target; `neighbours` is a
    `NeighbourTables`.
    """
    tables = NeighbourTables(*neighbours)
    means = tables.means
    put_in_order(tables.ordered, tables.carried, filled, mean, y, means[i], old_y)
    means[i] = mean
    for j in range(z.shape[0]):
        tables.deviations[j, i] = z[j]
    tables.scaled[i] = t
