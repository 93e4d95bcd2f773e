"""Extreme learning machines."""

from collections.abc import Callable

import numpy as np

from iln_stream.research.experiments.methods.ridges import Array, ridge


def _products(X: Array, a: Array, b: Array) -> Array:
    z: Array = X @ a.T + b
    return z


def _squared_distances(X: Array, a: Array) -> Array:
    squares = np.vecdot(X, X)[:, np.newaxis] + np.vecdot(a, a)
    distances: Array = np.maximum(squares - 2.0 * (X @ a.T), 0.0)
    return distances


UNITS: dict[str, Callable[[Array, Array, Array], Array]] = {
    "sigmoid": lambda X, a, b: 0.5 + 0.5 * np.tanh(0.5 * _products(X, a, b)),
    "gaussian": lambda X, a, b: np.exp(-b * _squared_distances(X, a)),
    "multiquadric": lambda X, a, b: np.sqrt(_squared_distances(X, a) + b**2),
    "hard limit": lambda X, a, b: (_products(X, a, b) >= 0.0).astype(float),
}
"""G(a, b, x): 1 / (1 + exp(-(a.x + b))), exp(-b ||x - a||^2), (||x - a||^2 + b^2)^(1/2) and
1[a.x + b >= 0], of X (n, d), a (L, d) and b (L,); shape (n, L)."""


class ExtremeLearningMachine:
    r"""f(x) = beta.h(x) with L random units h and beta by ridge regression [^1].

    $\beta = (H^T H + I / C)^{-1} H^T y$ with $H_{ij} = G(a_j, b_j, x_i)$. The entries of a are
    uniform over [-1, 1], and b is uniform over [0, 1]; the source's hard limit unit, 1 where a.x -
    b >= 0, has -b for b here, so b is uniform over [-1, 0] for it.

    Parameters
    ----------
    units
        A name in `UNITS`.
    n_units
        L.
    C
        Inverse of the penalty.
    seed
        Of the units.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.research.experiments.methods.extreme_learning import ExtremeLearningMachine
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> model = ExtremeLearningMachine("gaussian", n_units=40, C=1e6).fit(X, y)
    >>> bool(np.abs(model.predict(X) - y).max() < 0.01)
    True

    References
    ----------
    [^1]: G.-B. Huang, H. Zhou, X. Ding, R. Zhang. Extreme Learning Machine for Regression and
    Multiclass Classification. IEEE Transactions on Systems, Man, and Cybernetics B 42, 2012.

    """

    def __init__(
        self, units: str = "sigmoid", n_units: int = 100, C: float = 1e4, seed: int = 0
    ) -> None:
        if units not in UNITS:
            raise ValueError(f"units = {units!r} must be one of {', '.join(UNITS)}")
        if not C > 0:
            raise ValueError(f"C = {C!r} must be positive")
        self.units = units
        self.n_units = n_units
        self.C = C
        self.seed = seed

    def fit(self, X: Array, y: Array) -> "ExtremeLearningMachine":
        """Train on inputs (n, d) and targets or signs (n,)."""
        rng = np.random.default_rng(self.seed)
        self.a = rng.uniform(-1.0, 1.0, (self.n_units, X.shape[1]))
        self.b = rng.uniform(0.0, 1.0, self.n_units) * (-1.0 if self.units == "hard limit" else 1.0)
        self.beta = ridge(self.hidden(X), y, 1.0 / self.C)
        return self

    def hidden(self, X: Array) -> Array:
        """Return H, shape (n, L), of inputs (n, d)."""
        return UNITS[self.units](X, self.a, self.b)

    def predict(self, X: Array) -> Array:
        """Return f of each input, shape (n,)."""
        f: Array = self.hidden(X) @ self.beta
        return f
