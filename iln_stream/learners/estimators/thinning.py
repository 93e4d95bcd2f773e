"""How a full support is thinned out, from its coefficients alone."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators.base import Policy


def thin_out(
    raw: NDArray[np.float64], target: int, policy: Policy, key: int, number: int
) -> NDArray[np.bool_]:
    """Return who stays, shape (n,), and raise in place the coefficients of those who do.

    Parameters
    ----------
    raw
        Coefficients, shape (n,), up to a common factor.
    target
        How many are to stay, about: less than n, and at least 1.
    policy
        "smallest" keeps the largest, of equals the newest. "compress" keeps each with a
        probability ~ |raw_i|, and raises it by the inverse; those large enough stay as they are.
        So the expectation of sum_i raw_i Phi(x_i) is what it was.
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
    # Not before a support is full: numba takes a moment to import.
    from iln_stream.kernels import thinning

    stay: NDArray[np.bool_] = raw != 0.0
    if np.count_nonzero(stay) > target:
        tau = thinning.threshold(raw, target)
        start = np.random.Generator(bits).random()
        thinning.systematic(raw, tau, start, stay)
    return stay
