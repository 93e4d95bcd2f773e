"""Ridge experts with one target per class: 1 for the observed class, 0 for the others."""

import numpy as np

from iln_stream.compiled.hidden_units import features, gradient
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.recursive_ridge import dot, gain, subtract
from iln_stream.compiled.regression_event import StoredEvents
from iln_stream.compiled.standardise import standardise_again


@compiled
def predict_classes(omega, b, activation, linear, theta, v, u, phi, p):  # type: ignore[no-untyped-def]
    """p[k, c] = theta[k, c].phi_k(v); theta (K, C, D)."""
    for k in range(p.shape[0]):
        features(omega[k], b[k], activation[k], linear[k], v, u[k], phi[k])
        for c in range(p.shape[1]):
            p[k, c] = dot(theta[k, c], phi[k])


@compiled
def learn_class(P, pending, theta, record, phi, k, label, w):  # type: ignore[no-untyped-def]
    """One row of least squares, of weight w, for all classes; k (D,) is scratch.

    The classes share the covariance.
    """
    gain(P, pending, record, phi, k)
    denominator = 1.0 / w + dot(k, phi)
    for c in range(theta.shape[0]):
        t = 1.0 if c == label else 0.0
        step = (t - dot(theta[c], phi)) / denominator
        for i in range(phi.shape[0]):
            theta[c, i] += step * k[i]
    subtract(P, pending, record, k, denominator, 1.0)


@compiled
def learn_class_all(P, pending, theta, record, phi, label, w, scratch):  # type: ignore[no-untyped-def]
    """Train every expert on the label with weight w."""
    for k in range(theta.shape[0]):
        learn_class(P[k], pending[k], theta[k], record[k], phi[k], scratch, label, w)


@compiled
def update_class_agop(omega, activation, linear, theta, u, rate, agop):  # type: ignore[no-untyped-def]
    """agop_k <- (1 - rate) agop_k + rate sum_c grad f_kc grad f_kc', at the last row."""
    d, R = omega.shape[1], omega.shape[2]
    g, a = np.empty(d), np.empty(R, np.float32)
    for k in range(agop.shape[0]):
        for j in range(d):
            for m in range(d):
                agop[k, j, m] *= 1.0 - rate
        for c in range(theta.shape[1]):
            gradient(omega[k], activation[k], linear[k], theta[k, c], u[k], a, g)
            for j in range(d):
                for m in range(d):
                    agop[k, j, m] += rate * g[j] * g[m]


@compiled
def replay_classes(memory, first, last, stats, new, activation, linear):  # type: ignore[no-untyped-def]
    """Train a candidate expert on events first..last - 1 of the memory, whose targets are classes.

    `memory` is a `StoredEvents`, `new` an `RLSState`, whose arrays change. A label that is not
    finite makes the weights so.
    """
    stored = StoredEvents(*memory)
    size = stored.y.shape[0]
    z, u = np.empty(new.omega.shape[0]), np.empty(new.b.shape[0], np.float32)
    phi, k = np.zeros(new.theta.shape[1]), np.empty(new.theta.shape[1])
    for i in range(first, last):
        standardise_again(stored.columns[:, i % size], stats, z)
        features(new.omega, new.b, activation, linear, z, u, phi)
        label, w = stored.y[i % size], stored.weights[i % size]
        learn_class(new.P, new.pending, new.theta, new.record, phi, k, label, w)
        if not np.isfinite(stored.y[i % size]):
            new.theta[:] = np.nan
