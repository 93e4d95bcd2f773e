"""Algorithm 2, EST_SCALAR_PROD: <f_t, Phi(x)> by sampling, without a kernel."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import Features
from iln_stream.learners.estimators.base import Estimate
from iln_stream.learners.estimators.support import Support

_NUMBERS_AT_ONCE = 1 << 18
"""Draws are made in blocks of about this many doubles, so memory is bounded for any m."""


def est_scalar_prod(
    support: Support,
    x: NDArray[np.float64],
    m: int,
    features: Features[Any],
    rng: np.random.Generator,
) -> Estimate:
    """Estimate <sum_i alpha_i Phi(x_i), Phi(x)> from m independent draws (Algorithm 2).

    For k = 1..m draw i with probability |alpha_i| / ||alpha||_1 and a fresh w ~ mu; the mean of
    ||alpha||_1 sgn(alpha_i) psi(x_i; w) psi(x; w) is unbiased. Terms lie within +-||alpha||_1, so
    P(|E - <f, Phi(x)>| > eps) <= 2 exp(-m eps^2 / (2 ||alpha||_1^2)) by Hoeffding. (Eq. 19 of the
    paper lacks both factors 2 and does not hold.)

    Parameters
    ----------
    support
        The points x_i and coefficients alpha_i.
    x
        The point, shape (d,).
    m
        Number of draws, at least 1.
    features
        The family: mu and psi.
    rng
        Source of all randomness.

    """
    alpha_l1 = support.alpha_l1
    if alpha_l1 == 0.0:
        return Estimate(0.0, 0.0, 0)
    d = len(x)
    sgn = np.sign(support.alpha)
    total = total_of_squares = 0.0
    block = max(1, _NUMBERS_AT_ONCE // max(d, 1))
    for start in range(0, m, block):
        n = min(block, m - start)
        i = support.sample(n, rng)
        w = features.draw(n, d, rng)
        terms = sgn[i] * features.psi(support.take(i, d), w) * features.psi(x, w)
        total += float(terms.sum())
        total_of_squares += float(terms @ terms)
    mean = total / m
    variance = max(total_of_squares - m * mean**2, 0.0) / (m - 1) if m > 1 else 1.0
    return Estimate(alpha_l1 * mean, alpha_l1 * math.sqrt(variance / m), m)
