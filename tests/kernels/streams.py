"""Streams on which recursive updates break down, if they do."""

import numpy as np

KINDS = "stationary", "still", "collinear", "one-hot", "bursting"


def rows(kind, n, d, rng):
    """n events of d numbers; d is even."""
    X = rng.normal(size=(n, d))
    if kind == "still":
        X[:] = X[0]
    elif kind == "collinear":
        X[:, 1::2] = X[:, ::2]
    elif kind == "one-hot":
        X[:] = np.eye(d)[rng.integers(d, size=n)]
    elif kind == "bursting":
        X *= np.where(np.arange(n) % 1_000 < 20, 10.0, 1e-3)[:, None]
    return X
