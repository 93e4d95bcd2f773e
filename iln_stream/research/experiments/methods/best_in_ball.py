"""The best function in hindsight among those of norm at most B."""

import numpy as np

from iln_stream.features.base import Kernel
from iln_stream.research.experiments.methods.ridges import Array


def kernel_factor(X: Array, kernel: Kernel, tolerance: float = 1e-6, rank: int = 1000) -> Array:
    """Return L (n, r) with K - L L' positive semi-definite and its diagonal below `tolerance`.

    Pivoted Cholesky factorisation of K = k(X, X), in O(n r^2) time. Row i stands for Phi(x_i), and
    functions in the span of the pivots for vectors of the same norm.

    Raises
    ------
    ValueError
        If `rank` columns are not enough.

    """
    n = len(X)
    left = np.array([kernel(X[i : i + 1], X[i])[0] for i in range(n)])
    L = np.zeros((n, min(rank, n)))
    for r in range(L.shape[1]):
        i = int(np.argmax(left))
        if left[i] <= tolerance:
            return L[:, :r]
        column = kernel(X, X[i]) - L[:, :r] @ L[i, :r]
        L[:, r] = column / np.sqrt(left[i])
        left -= L[:, r] ** 2
    if left.max() > tolerance:
        raise ValueError(f"rank {rank} leaves {left.max():.1e}: use a smoother kernel")
    return L


def least_loss(L: Array, y: Array, B: float) -> float:
    """Return the least sum of (f(x_t) - y_t)^2 / 2 among f = L beta with ||beta|| <= B."""
    values, vectors = np.linalg.eigh(L.T @ L)
    values, b = np.maximum(values, 0.0), vectors.T @ (L.T @ y)

    def beta(lam: float) -> Array:
        return np.asarray(b / (values + lam))

    low, high = 1e-12 * max(float(values.max()), 1.0), float(np.linalg.norm(b)) / B + 1.0
    if np.linalg.norm(beta(low)) > B:
        for _ in range(100):  # ||beta|| falls in lam; halve the interval on a log scale
            middle = float(np.sqrt(low * high))
            low, high = (middle, high) if np.linalg.norm(beta(middle)) > B else (low, middle)
        low = high
    return float(np.sum((L @ (vectors @ beta(low)) - y) ** 2)) / 2.0
