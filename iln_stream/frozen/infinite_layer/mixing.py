"""Weighted means of experts' predictions."""

import numpy as np

from iln_stream.frozen.infinite_layer.types import Matrix, Parts


def mixed(rule: Parts, p: Matrix) -> Matrix:
    """Return the mean (n,) of predictions p (n, K) by the weights (K,) of a rule.

    Experts that are not awake (K,), or whose prediction is not finite, do not count. Where no
    expert that counts has weight, all that count weigh the same.
    """
    counts = rule["awake"] & np.isfinite(p)
    weights = np.where(counts, rule["weights"], 0.0)
    weights = np.where(weights.sum(axis=1, keepdims=True) > 0.0, weights, counts)
    total = np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
    value: Matrix = (weights * np.where(counts, p, 0.0)).sum(axis=1) / total
    return value
