"""Ridge regression, and on random features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import Features
from iln_stream.research.feature_maps.from_family import DrawnUnits

Array = NDArray[np.float64]


def ridge(Phi: Array, y: Array, penalty: float) -> Array:
    """Return the w, shape (M,), that minimises ||Phi w - y||^2 + penalty ||w||^2.

    Solves the smaller of the systems of M and of n equations.

    Parameters
    ----------
    Phi, y
        Features (n, M) and targets (n,).
    penalty
        Positive.

    """
    n, M = Phi.shape
    if n >= M:
        w = np.linalg.solve(Phi.T @ Phi + penalty * np.eye(M), Phi.T @ y)
    else:
        w = Phi.T @ np.linalg.solve(Phi @ Phi.T + penalty * np.eye(n), y)
    return np.asarray(w, dtype=np.float64)


def leverage_scores(Phi: Array, lam: float) -> Array:
    r"""Return the diagonal of C (C + lam I)^{-1}, C = Phi^T Phi / n, of features Phi (n, M).

    They are in [0, 1), and their sum is the effective dimension of the features at lam.
    """
    n, M = Phi.shape
    C = Phi.T @ Phi / n
    scores: Array = np.diag(np.linalg.solve(C + lam * np.eye(M), C)).copy()
    return scores


class BatchRidge:
    r"""Random-feature ridge regression [^1].

    $f(x) = \langle w, \phi(x) \rangle$ with $w = (\hat C + \lambda I)^{-1} \frac1n \sum_i y_i
    \phi(x_i)$, $\hat C = \frac1n \sum_i \phi(x_i) \phi(x_i)^T$. Uniform sampling draws M units from
    mu, $\phi = \psi / \sqrt M$. Leverage-score sampling draws a pool of units from mu, and M of
    them, with replacement, with probabilities q in proportion to their leverage scores at
    $\lambda$; $\phi_r = \psi_{i_r} / \sqrt{M\, n_{pool}\, q_{i_r}}$ keeps the kernel's estimate
    unbiased. The source's scores are those of all of mu and of the true distribution; a pool and
    the sample stand in for them here.

    Parameters
    ----------
    family
        psi and mu.
    n_features
        M.
    lam
        $\lambda$.
    pool
        Units in the pool; None: uniform sampling.
    scale
        Of psi: sqrt(2) gives cosines a kernel with k(x, x) = 1.
    seed
        Of the units.

    References
    ----------
    [^1]: A. Rudi, L. Rosasco. Generalization Properties of Learning with Random Features. NIPS
    2017.

    """

    def __init__(
        self,
        family: Features[Any],
        n_features: int,
        lam: float,
        pool: int | None = None,
        scale: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.family = family
        self.n_features = n_features
        self.lam = lam
        self.pool = pool
        self.scale = scale
        self.seed = seed

    def fit(self, X: Array, y: Array) -> "BatchRidge":
        """Train on inputs (n, d) and targets (n,)."""
        rng = np.random.default_rng(self.seed)
        size = self.n_features if self.pool is None else self.pool
        factor = self.scale / np.sqrt(size)
        self.units = DrawnUnits(self.family, self.family.draw(size, X.shape[1], rng), size, factor)
        Phi = self.units(X)
        self.chosen, self.shares = np.arange(size), np.ones(size)
        if self.pool is not None:
            self._choose(leverage_scores(Phi, self.lam), rng)
        w = ridge(Phi[:, self.chosen] * self.shares, y, self.lam * len(y))
        self.w = w
        return self

    def features(self, X: Array) -> Array:
        """Return phi, shape (n, M), of inputs (n, d)."""
        phi: Array = self.units(X)[:, self.chosen] * self.shares
        return phi

    def predict(self, X: Array) -> Array:
        """Return f of each input, shape (n,)."""
        f: Array = self.features(X) @ self.w
        return f

    def _choose(self, scores: Array, rng: np.random.Generator) -> None:
        q = scores / scores.sum()
        self.chosen = rng.choice(len(q), self.n_features, p=q)
        self.shares = 1.0 / np.sqrt(self.n_features * q[self.chosen])
