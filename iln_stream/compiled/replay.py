"""Training a ridge expert on stored events."""

import numpy as np

from iln_stream.compiled.hidden_units import features
from iln_stream.compiled.jit import compiled
from iln_stream.compiled.recursive_ridge import dot, learn
from iln_stream.compiled.standardise import standardise_again
from iln_stream.compiled.target import FENCE, scaled
from iln_stream.compiled.wide import widest_vectors


@compiled
def place(columns, lags, i, stats, scale, v):  # type: ignore[no-untyped-def]
    """v = [lags, z]: a stored event and the targets before it, by the given statistics."""
    n_lags = lags.shape[1]
    center, unit = scale
    for j in range(n_lags):
        v[j] = 3.0 * scaled(lags[i, j], center, unit)
    standardise_again(columns[:, i], stats, v[n_lags:])


@compiled
def replay(  # type: ignore[no-untyped-def]
    columns, lags, y, first, last, stats, scale, omega, b, activation, linear,
    P, pending, theta, record, forgetting, ridge, huber,
):  # fmt: skip
    """Train an expert on rows first..last - 1 of the buffer; return the sum of its |errors|."""
    widest_vectors()
    size, R = y.shape[0], b.shape[0]
    center, unit = scale
    v, u = np.empty(omega.shape[0]), np.empty(R, np.float32)
    phi, k = np.zeros(theta.shape[0]), np.empty(theta.shape[0])
    lost = 0.0
    for i in range(first, last):
        place(columns, lags, i % size, stats, scale, v)
        features(omega, b, activation, linear, v, u, phi)
        t = scaled(y[i % size], center, unit)
        p = min(max(dot(theta, phi), -FENCE), FENCE)
        lost += abs(t - p)
        learn(P, pending, theta, record, phi, k, t, p, forgetting, ridge, huber)
    return lost
