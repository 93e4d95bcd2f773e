"""Semi-random features with one hidden layer, learned in closed form."""

from math import sqrt

import numpy as np

from iln_stream.research.experiments.methods.ridges import Array, ridge
from iln_stream.research.related.semi_random import random_gates


class SemiRandomRidge:
    r"""f(x) = sum_k sigma_s(r_k.x) (w_k.x) / sqrt(n), random r and w by ridge regression [^1].

    The network of one hidden layer of `SemiRandomRegressor`, x with a leading 1
    and r of independent N(0, 1) entries. f is linear in the w, so that the best ones have a closed
    form, for which that learner takes gradient steps.

    Parameters
    ----------
    n_units
        n.
    power
        s: 0 for linear semi-random units, 1 for squared ones.
    penalty
        On $\|w\|^2$, beside the sum of squares.
    seed
        Of r.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.research.experiments.methods.semi_random_batch import SemiRandomRidge
    >>> X = np.random.default_rng(0).uniform(-1, 1, (300, 2))
    >>> y = X[:, 0] * X[:, 1]
    >>> model = SemiRandomRidge(20, power=1).fit(X, y)
    >>> bool(np.mean((model.predict(X) - y) ** 2) < 0.01 * y.var())
    True

    References
    ----------
    [^1]: K. Kawaguchi, B. Xie, V. Verma, L. Song. Deep Semi-Random Features for Nonlinear Function
    Approximation. AAAI 2018.

    """

    def __init__(self, n_units: int, power: int = 0, penalty: float = 1e-3, seed: int = 0) -> None:
        self.n_units = n_units
        self.power = power
        self.penalty = penalty
        self.seed = seed

    def fit(self, X: Array, y: Array) -> "SemiRandomRidge":
        """Train on inputs (n, d) and targets (n,)."""
        rng = np.random.default_rng(self.seed)
        self.R = rng.standard_normal((X.shape[1] + 1, self.n_units))
        self.w = ridge(self.features(X), y, self.penalty)
        return self

    def features(self, X: Array) -> Array:
        """Return what f is linear in, shape (n, units (d + 1)), of inputs (n, d)."""
        x = np.column_stack([np.ones(len(X)), X])
        (gates,) = random_gates(x, [self.R], self.power)
        phi: Array = (gates[:, :, np.newaxis] * x[:, np.newaxis]).reshape(len(X), -1)
        return phi / sqrt(self.n_units)

    def predict(self, X: Array) -> Array:
        """Return f of each input, shape (n,)."""
        f: Array = self.features(X) @ self.w
        return f
