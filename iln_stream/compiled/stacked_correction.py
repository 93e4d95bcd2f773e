"""A log-linear correction of probabilities: online Newton steps for the log loss.

q_c is proportional to p_c exp(sum_k w_k L_kc), where the features L are log ratios of the experts'
probabilities to p.
"""

import numpy as np

from iln_stream.compiled.class_scores import LEAST
from iln_stream.compiled.jit import compiled

LARGEST_RATIO = 8.0
"""Log ratios are clipped here."""

PRECISION = 50.0
"""Precision of the weights' prior around 0."""

FORGETTING = 0.999
"""Factor of past curvature, while the covariance's trace is below that of the prior."""

LARGEST_CHANGE = 1.0
"""A weight above 1 enlarges a step until it changes the logarithm of the observed class's odds by
this: a gradient is known at one point only, and a far longer step would leave all bounds."""

NEGLIGIBLE = 1e-6
"""Curvature in the direction of a class that is less probable is left out."""


@compiled
def correct(weights, p, members, base, ratios, q):  # type: ignore[no-untyped-def]
    """q (C,) = the base (C,) corrected, by ratios (m, C) of the experts' p (K, C) to it.

    The experts' indices are in members (m,). Each class's q is at least `LEAST` / C.
    """
    C = base.shape[0]
    top = -np.inf
    for c in range(C):
        log_base = np.log(base[c])
        s = log_base
        for k in range(members.shape[0]):
            ratio = np.log(p[members[k], c]) - log_base
            ratios[k, c] = min(max(ratio, -LARGEST_RATIO), LARGEST_RATIO)
            s += weights[k] * ratios[k, c]
        q[c] = s
        top = max(top, s)
    total = 0.0
    for c in range(C):
        q[c] = np.exp(q[c] - top)
        total += q[c]
    for c in range(C):
        q[c] = (1.0 - LEAST) * q[c] / total + LEAST / C


@compiled
def newton_step(weights, covariance, ratios, q, label, w):  # type: ignore[no-untyped-def]
    """Move the weights (m,) by a Newton step, and the covariance (m, m) by the curvature.

    w is the event's weight, see `LARGEST_CHANGE`.
    """
    m, C = ratios.shape
    mean, u = np.zeros(m), np.empty(m)
    trace = 0.0
    for k in range(m):
        trace += covariance[k, k]
        for c in range(C):
            mean[k] += q[c] * ratios[k, c]
    if trace * PRECISION < m:
        for i in range(m):
            for j in range(m):
                covariance[i, j] /= FORGETTING
    for c in range(C):
        if q[c] >= NEGLIGIBLE:
            for i in range(m):
                s = 0.0
                for j in range(m):
                    s += covariance[i, j] * (ratios[j, c] - mean[j])
                u[i] = s
            denominator = 1.0 / (w * q[c])
            for i in range(m):
                denominator += u[i] * (ratios[i, c] - mean[i])
            for i in range(m):
                for j in range(i + 1):
                    covariance[i, j] -= u[i] * u[j] / denominator
                    covariance[j, i] = covariance[i, j]  # what is not symmetric would grow
    change = 0.0
    for i in range(m):
        s = 0.0
        for j in range(m):
            s += covariance[i, j] * (ratios[j, label] - mean[j])
        u[i] = s
        change += s * (ratios[i, label] - mean[i])
    change /= max(1.0 - q[label], NEGLIGIBLE)
    scale = min(w, max(1.0, LARGEST_CHANGE / change)) if change > 0.0 else w
    for i in range(m):
        weights[i] += scale * u[i]
