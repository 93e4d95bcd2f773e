"""The low-rank linearised support vector machine."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.experiments.methods.linear_svm import linear_svm
from iln_stream.features.maps import NystroemMap
from iln_stream.related.kernel_expansion import gaussian_kernel

Array = NDArray[np.float64]


class LowRankLinearisedSVM:
    r"""A kernel machine made linear by landmarks (LLSVM).

    With landmarks $Z$ the Gram matrix is approximated by $C W^{-1} C^T$, $C = k(X, Z)$, $W = k(Z,
    Z)$ (Nystroem), so that $F = C U \Lambda^{-1/2}$, $W = U \Lambda U^T$, has $F F^T$ as its Gram
    matrix; a linear machine is trained on F [^1].

    Parameters
    ----------
    lam
        $\lambda$ of the linear machine.
    gamma
        Inverse squared width of the kernel exp(-gamma ||x - x'||^2).
    n_landmarks
        m, as many features.
    k_means
        Whether landmarks are the means of clusters, by five steps of Lloyd's algorithm, or else a
        random subset of the examples.
    seed
        Of landmarks and training.

    References
    ----------
    [^1]: K. Zhang, L. Lan, Z. Wang, F. Moerchen. Scaling up Kernel SVM on Limited Resources: A
    Low-rank Linearization Approach. AISTATS 2012.

    """

    def __init__(
        self, lam: float, gamma: float, n_landmarks: int, k_means: bool = True, seed: int = 0
    ) -> None:
        self.lam = lam
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.k_means = k_means
        self.seed = seed

    def fit(self, X: Array, y: Array) -> "LowRankLinearisedSVM":
        """Train on inputs (n, d) and signs (n,)."""
        rng = np.random.default_rng(self.seed)
        Z = X[rng.choice(len(X), min(self.n_landmarks, len(X)), replace=False)]
        self.features = NystroemMap(self._kernel, _lloyd(X, Z, steps=5) if self.k_means else Z)
        """Inputs (n, d) -> F, shape (n, rank of W)."""
        self.w = linear_svm(self.features(X), y, self.lam, seed=self.seed)
        return self

    def decision(self, X: Array) -> Array:
        """Return f of each input, shape (n,)."""
        f: Array = self.features(X) @ self.w
        return f

    def _kernel(self, X: Array, z: Array) -> Array:
        return gaussian_kernel(X, z[np.newaxis], self.gamma)[:, 0]


def _lloyd(X: Array, Z: Array, steps: int) -> Array:
    """Return the cluster means after some steps; an empty cluster keeps its mean."""
    for _ in range(steps):
        nearest = np.argmin(np.vecdot(Z, Z) - 2.0 * (X @ Z.T), axis=1)
        sizes = np.bincount(nearest, minlength=len(Z))
        sums = np.zeros_like(Z)
        np.add.at(sums, nearest, X)
        Z = np.where(sizes[:, None] > 0, sums / np.maximum(sizes, 1)[:, None], Z)
    return Z
