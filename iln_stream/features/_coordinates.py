"""Random columns, for units that use one coordinate only."""

import numpy as np
from numpy.typing import NDArray


def draw_columns(n: int, d: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw n columns, uniform over 0..d-1 (if d = 0: zeros, which are never used)."""
    return rng.integers(max(d, 1), size=n)


def pick(x: NDArray[np.float64], j: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return x_j for one point x (d,), or the k-th point's x_{j_k} for points x (n, d)."""
    return x[j] if x.ndim == 1 else x[np.arange(len(j)), j]
