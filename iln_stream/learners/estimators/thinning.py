"""Thinning out a full support, based on its coefficients alone."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators.base import Policy


def thin_out(
    raw: NDArray[np.float64], target: int, policy: Policy, key: int, number: int
) -> NDArray[np.bool_]:
    """Return a mask of survivors, shape (n,), and raise the survivors' coefficients in place.

    Parameters
    ----------
    raw
        Coefficients, shape (n,), up to a common factor.
    target
        About how many points to keep: less than n, and at least 1.
    policy
        "smallest" keeps the largest, of equals the newest. "compress" keeps each with a
        probability ~ |raw_i|, and divides it by that probability; those large enough are kept
        unchanged. This preserves the expectation of sum_i raw_i Phi(x_i).
    key, number
        Seed the choice.

    """
    if policy == "smallest":
        return _largest(raw, target)
    return _compress(raw, target, np.random.Philox(key=key, counter=[0, 0, 1, number]))


def _largest(raw: NDArray[np.float64], target: int) -> NDArray[np.bool_]:
    size = np.abs(raw)
    least = np.partition(size, len(raw) - target)[len(raw) - target]
    stay: NDArray[np.bool_] = size > least
    equals = np.flatnonzero(size == least)
    stay[equals[len(equals) - (target - np.count_nonzero(stay)) :]] = True
    return stay


def _compress(raw: NDArray[np.float64], target: int, bits: np.random.Philox) -> NDArray[np.bool_]:
    # Imported when a support is first full: numba takes a moment to import.
    from iln_stream.compiled import thinning

    stay: NDArray[np.bool_] = raw != 0.0
    if np.count_nonzero(stay) > target:
        tau = thinning.threshold(raw, target)
        start = np.random.Generator(bits).random()
        thinning.systematic(raw, tau, start, stay)
    return stay
