"""Thinning out a support: who stays, and closing the gaps. Without branches that chance decides."""

import numpy as np
from numba import int64

from iln_stream.kernels.compiled import compiled


@compiled
def threshold(raw, target):  # type: ignore[no-untyped-def]
    """Return tau with sum_i min(1, |raw_i| / tau) = target, the expected number that stays.

    The points above the last tau surely stay; what is left of the target is shared by the others'
    sum. Each pass lowers tau, and the first that changes nothing has it. More than `target`
    entries must not be 0.
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
    """Tell who stays, each with probability min(1, |raw_i| / tau), and give it weight >= tau.

    The probabilities of those below tau are laid end to end, and who covers one of start,
    start + 1, .. stays; so the number that stays is its expectation up to rounding.
    """
    ahead = start  # the next such number, seen from where the probabilities have come to
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
    """Move who stays to the front, in order, and the others' slots to `free`; return how many."""
    n = 0
    for i in range(len(stay)):
        e = entry[first + i]
        entry[n] = e
        raw[n] = raw[first + i]
        n += int64(stay[i])
        free[n_free] = ~e if e < 0 else e
        n_free += int64(not stay[i])
    return n
