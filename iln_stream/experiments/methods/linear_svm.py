"""The linear support vector machine by dual coordinate descent."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def hinge_objective(w: Array, X: Array, y: Array, lam: float) -> float:
    """Return lam / 2 ||w||^2 + mean max(0, 1 - y <w, x>)."""
    return float(lam / 2 * w @ w + np.maximum(0.0, 1.0 - y * (X @ w)).mean())


def linear_svm(
    X: Array, y: Array, lam: float, epochs: int = 20, gap: float = 1e-3, seed: int = 0
) -> Array:
    r"""Return the w, shape (d,), that minimises `hinge_objective`.

    Maximises the dual over one $\alpha_i \in [0, C]$ at a time, $C = 1 / (\lambda n)$, $w = \sum_i
    \alpha_i y_i x_i$ [^1] (Algorithm 1, without shrinking).

    Parameters
    ----------
    X, y
        Inputs (n, d) and signs (n,).
    lam
        $\lambda$.
    epochs
        The most passes over the data.
    gap
        Stops earlier at this duality gap, relative to the objective.
    seed
        Of the order of the examples.

    References
    ----------
    [^1]: C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi, S. Sundararajan. A Dual Coordinate
    Descent Method for Large-scale Linear SVM. ICML 2008.

    """
    n, d = X.shape
    C = 1.0 / (lam * n)
    squares = np.vecdot(X, X)
    alpha, w = np.zeros(n), np.zeros(d)
    order = np.flatnonzero(squares > 0.0)  # a row of zeros has no effect on w
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        rng.shuffle(order)
        for i in order:
            slope = y[i] * (w @ X[i]) - 1.0
            new = min(max(alpha[i] - slope / squares[i], 0.0), C)
            if new != alpha[i]:
                w += (new - alpha[i]) * y[i] * X[i]
                alpha[i] = new
        primal = hinge_objective(w, X, y, lam)
        # Rows of zeros have a loss of 1, which their alpha = C carries in the dual.
        dual = lam * (alpha.sum() + C * (n - len(order)) - w @ w / 2)
        if primal - dual <= gap * primal:
            break
    return w
