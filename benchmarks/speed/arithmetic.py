"""The least time of a learner's arithmetic: the multiply-adds of its matrices, at the peak rate.

Activations, sorting, random numbers and AdamW's divisions are left out, as is the time to read the
matrices: no learner reaches this limit.
"""

from functools import partial
from typing import Any

import numpy as np

from iln_stream.kernels.jit import compiled
from iln_stream.kernels.moving_units import BATCH as MOVED
from iln_stream.kernels.networks import BATCH
from iln_stream.kernels.vectors import WIDE_LANES, spread, total
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

from .clock import medians, side_by_side

_REPEATS = 10_000
_CHAINS = 12
"""Independent sums: enough that none waits for another."""


@compiled
def multiply_adds(repeats, a, b):  # type: ignore[no-untyped-def]
    """Twelve sums of sixteen lanes in registers, each multiplied and added to at each repeat."""
    f, g = spread(a), spread(b)
    c0, c1, c2, c3, c4, c5 = g, g + f, g, g + f, g, g + f
    c6, c7, c8, c9, c10, c11 = g, g + f, g, g + f, g, g + f
    for _ in range(repeats):
        c0, c1, c2, c3 = c0 * f + g, c1 * f + g, c2 * f + g, c3 * f + g
        c4, c5, c6, c7 = c4 * f + g, c5 * f + g, c6 * f + g, c7 * f + g
        c8, c9, c10, c11 = c8 * f + g, c9 * f + g, c10 * f + g, c11 * f + g
    s = ((c0 + c1) + (c2 + c3)) + ((c4 + c5) + (c6 + c7)) + ((c8 + c9) + (c10 + c11))
    return total(s)


def peak_rate() -> float:
    """Return this processor's multiply-adds of single precision per second, on one core."""
    call = partial(multiply_adds, _REPEATS, np.float32(0.5), np.float32(0.25))
    (seconds,) = medians(side_by_side({"peak": call})).values()
    return _REPEATS * _CHAINS * WIDE_LANES / seconds


def of_event(model: InfiniteLayerRegressor) -> float:
    """Return the multiply-adds of an event; one of double precision counts as two."""
    engine: Any = model._engine
    return _of_fast(engine) if model.profile == "fast" else _of_accurate(engine)


def _of_fast(engine: Any) -> float:
    """Phases, and gradients of the units, on sixteen rows; and the ridge's blocks."""
    _, rows, R = engine.units.shape
    return 2.0 * MOVED * rows * R + 2.0 * 2.0 * engine.P.size


def _of_accurate(engine: Any) -> float:
    """Networks (forwards, and twice as much backwards, on sixteen rows; predictions), and ridges.

    Of a ridge's covariance half is stored: each number is multiplied twice for the gain, and has
    one update at each event.
    """
    single = 0.0
    for network in engine.networks.networks.values():
        first, second = network.shape.first, network.shape.second
        L = engine.networks.ring.n_columns
        single += BATCH * (3 * first * second + 2 * L * first)
        single += len(network.ends) * (first * second + L * first)
    double = 0.0
    if not engine.sleepers.resting:
        bank = engine.ridges.bank
        double += 3 * bank.P.size + 2 * engine.sleepers.experts["forgetting-rls"].P.size
        single += 2 * bank.omega.size
    krls_t = engine.moving.experts["krls-t"]
    double += 3 * krls_t.inverse.size
    neighbours = engine.mixture.experts["neighbours"]
    single += neighbours.deviations.size
    return single + 2.0 * double
