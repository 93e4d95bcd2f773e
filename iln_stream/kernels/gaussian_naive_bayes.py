"""Gaussian naive Bayes: within a class, inputs are independent and normal."""

import numpy as np

from iln_stream.kernels.jit import compiled

PRIOR = 3.0
"""Standard normal values that each class is taken to have had in each column."""

LEAST_VARIANCE = 0.01


@compiled
def predict(z, counts, mean, squares, offsets, p):  # type: ignore[no-untyped-def]
    """p (C,) at the deviations z (d,), from the log frequencies (C,) of the classes.

    Of each class: its events (C,), means and summed squares about them, (C, d).
    """
    C, top, total = p.shape[0], -np.inf, 0.0
    for c in range(C):
        n = counts[c] + PRIOR
        s = offsets[c]
        for j in range(z.shape[0]):
            variance = (squares[c, j] + PRIOR) / n + LEAST_VARIANCE
            error = z[j] - mean[c, j] * counts[c] / n
            s -= 0.5 * (np.log(variance) + error * error / variance)
        p[c] = s
        top = max(top, s)
    for c in range(C):
        p[c] = np.exp(p[c] - top)
        total += p[c]
    for c in range(C):
        p[c] /= total


@compiled
def learn(z, counts, mean, squares, label, w):  # type: ignore[no-untyped-def]
    """Add an event to the statistics of its class, as w events."""
    if w == 0.0:
        return
    counts[label] += w
    for j in range(z.shape[0]):
        delta = z[j] - mean[label, j]
        mean[label, j] += w * delta / counts[label]
        squares[label, j] += w * delta * (z[j] - mean[label, j])
