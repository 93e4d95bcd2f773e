"""Thinning out a support: choose the survivors, close the gaps. No branch depends on chance."""

import numpy as np
from numba import int64

from iln_stream.compiled.jit import compiled


@compiled
def threshold(raw, target):  # type: ignore[no-untyped-def]
    """Return tau with sum_i min(1, |raw_i| / tau) = target, the expected number of survivors.

    Points above the last tau survive with certainty; the others share the rest of the target by
    size. Each pass lowers tau; the first pass that changes nothing has found it. More than
    `target` entries must be nonzero.
    """
    tau = np.inf
    above = -1
    while True:
        n = 0
        rest = 0.0
        for i in range(len(raw)):
            size = abs(raw[i])
            n += size >= tau
            rest += size if size < tau else 0.0
        if n == above or n >= target:
            return tau
        above = n
        tau = rest / (target - n)


@compiled
def systematic(raw, tau, start, stay):  # type: ignore[no-untyped-def]
    """Choose survivors, each with probability min(1, |raw_i| / tau), and raise them to >= tau.

    The probabilities of points below tau are laid end to end; a point that covers one of start,
    start + 1, .. survives. The number of survivors is thus its expectation up to rounding.
    """
    ahead = start  # the next such number, minus the probabilities so far
    for i in range(len(raw)):
        size = abs(raw[i])
        large = size >= tau
        ahead -= 0.0 if large else size / tau
        met = ahead < 0.0
        ahead += 1.0 if met else 0.0
        stay[i] = large | met
        raw[i] = raw[i] if large else np.copysign(tau, raw[i])


@compiled
def close_gaps(stay, first, entry, raw, free, n_free):  # type: ignore[no-untyped-def]
    """Move survivors to the front, in order, and other slots to `free`; return how many survive."""
    n = 0
    for i in range(len(stay)):
        e = entry[first + i]
        entry[n] = e
        raw[n] = raw[first + i]
        n += int64(stay[i])
        free[n_free] = ~e if e < 0 else e
        n_free += int64(not stay[i])
    return n
