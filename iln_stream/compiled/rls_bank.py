"""Recursive least squares of several experts on one row: all predict, all learn."""

import numpy as np

from iln_stream.compiled.hidden_units import features, gradient
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.recursive_ridge import dot, learn
from iln_stream.compiled.target import fenced
from iln_stream.compiled.wide import widest_vectors


@compiled
def predict_all(omega, b, activation, linear, theta, v, u, phi, p):  # type: ignore[no-untyped-def]
    """p_k = theta_k.phi_k(v) within +-2, or nan; keeps phi (K, D) and u (K, R) for learning."""
    for k in range(p.shape[0]):
        features(omega[k], b[k], activation[k], linear[k], v, u[k], phi[k])
        p[k] = fenced(dot(theta[k], phi[k]))


@compiled
def learn_all(  # type: ignore[no-untyped-def]
    P, pending, theta, record, phi, p, t, w, forgetting, ridge, huber, scratch
):
    """Train every expert on t with weight w, where their predictions were p."""
    widest_vectors()
    for k in range(p.shape[0]):
        learn(
            P[k], pending[k], theta[k], record[k], phi[k], scratch, t, p[k], w,
            forgetting[k], ridge, huber,
        )  # fmt: skip


@compiled
def update_agop(omega, activation, linear, theta, u, rate, agop):  # type: ignore[no-untyped-def]
    """agop_k <- (1 - rate) agop_k + rate grad f_k grad f_k', at the last row predicted.

    A gradient that is not finite is left out.
    """
    d, R = omega.shape[1], omega.shape[2]
    g, a = np.empty(d), np.empty(R, np.float32)
    for k in range(agop.shape[0]):
        gradient(omega[k], activation[k], linear[k], theta[k], u[k], a, g)
        if not np.isfinite(g.sum()):
            continue
        for j in range(d):
            for m in range(d):
                agop[k, j, m] += rate * (g[j] * g[m] - agop[k, j, m])
