"""Ridge regression."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def ridge(Phi: Array, y: Array, penalty: float) -> Array:
    """Return the w, shape (M,), that minimises ||Phi w - y||^2 + penalty ||w||^2.

    Solves the smaller of the systems of M and of n equations. Phi has the shape (n, M), y (n,), and
    the penalty is positive.
    """
    n, M = Phi.shape
    if n >= M:
        w = np.linalg.solve(Phi.T @ Phi + penalty * np.eye(M), Phi.T @ y)
    else:
        w = Phi.T @ np.linalg.solve(Phi @ Phi.T + penalty * np.eye(n), y)
    return np.asarray(w, dtype=np.float64)
