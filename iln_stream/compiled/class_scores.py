"""The experts' probabilities from the ridges' scores and the classes' counts."""

import numpy as np

from iln_stream.compiled.jit import compiled
from iln_stream.compiled.target import LARGEST

LEAST = 1e-4
"""Share of a prediction that is spread evenly, so that no class is impossible."""

LOWEST, HIGHEST = -0.5, 1.5
"""Scores, of indicators, are clipped here."""


@compiled
def fill(scores, sharpness, counts, p):  # type: ignore[no-untyped-def]
    """Fill p (S K + 1 + N, C), whose last N rows are probabilities and only get a `LEAST` share.

    Row s K + k = softmax(sharpness_s scores_k), scores (K, C); then the classes' frequencies.
    Return whether all p are finite and all scores within +-`LARGEST`.
    """
    K, C = scores.shape
    S = sharpness.shape[0]
    sound, everything = True, 0.0
    for k in range(K):
        top = LOWEST
        for c in range(C):
            sound = sound and abs(scores[k, c]) <= LARGEST  # nan is not
            top = max(top, min(scores[k, c], HIGHEST))
        for s in range(S):
            total = 0.0
            for c in range(C):
                score = min(max(scores[k, c], LOWEST), HIGHEST)
                p[s * K + k, c] = np.exp(sharpness[s] * (score - top))
                total += p[s * K + k, c]
            for c in range(C):
                p[s * K + k, c] /= total
    n = 0.0
    for c in range(C):
        n += counts[c]
    for c in range(C):
        p[S * K, c] = (counts[c] + 1.0) / (n + C)
    for k in range(p.shape[0]):
        for c in range(C):
            p[k, c] = (1.0 - LEAST) * p[k, c] + LEAST / C
            everything += p[k, c]
    return sound and np.isfinite(everything)


@compiled
def log_frequencies(counts, offsets):  # type: ignore[no-untyped-def]
    """offsets (C,) = the logarithms of the classes' smoothed frequencies."""
    C, n = counts.shape[0], 0.0
    for c in range(C):
        n += counts[c]
    for c in range(C):
        offsets[c] = np.log((counts[c] + 0.5) / (n + 0.5 * C))
