"""Linear support vector machines: exact, on landmarks, and averaged over shards."""

import numpy as np

from iln_stream.research.experiments.methods.ridges import Array
from iln_stream.research.feature_maps import NystroemMap
from iln_stream.research.related.kernel_expansion import gaussian_kernel


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
        m, as many features: the means of clusters, by five steps of Lloyd's algorithm.
    seed
        Of landmarks and training.

    References
    ----------
    [^1]: K. Zhang, L. Lan, Z. Wang, F. Moerchen. Scaling up Kernel SVM on Limited Resources: A
    Low-rank Linearization Approach. AISTATS 2012.

    """

    def __init__(self, lam: float, gamma: float, n_landmarks: int, seed: int = 0) -> None:
        self.lam = lam
        self.gamma = gamma
        self.n_landmarks = n_landmarks
        self.seed = seed

    def fit(self, X: Array, y: Array) -> "LowRankLinearisedSVM":
        """Train on inputs (n, d) and signs (n,)."""
        rng = np.random.default_rng(self.seed)
        Z = X[rng.choice(len(X), min(self.n_landmarks, len(X)), replace=False)]
        self.features = NystroemMap(self._kernel, _lloyd(X, Z, steps=5))
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


def sgd(shard: tuple[Array, Array], lam: float, eta: float) -> Array:
    r"""Return w, shape (d,), after one pass of hinge SGD with a constant step.

    $w \leftarrow w - \eta\, \partial_w (\frac\lambda2 \|w\|^2 + \max(0, 1 - y_i \langle w, x_i
    \rangle))$ for each example in turn [^1] (Algorithm 1).
    """
    X, y = shard
    w = np.zeros(X.shape[1])
    for x_i, y_i in zip(X, y, strict=True):
        violates = y_i * (w @ x_i) < 1.0
        w *= 1.0 - eta * lam
        if violates:
            w += eta * y_i * x_i
    return w


def parallel_sgd(
    X: Array, y: Array, lam: float, eta: float, machines: int, rng: np.random.Generator
) -> Array:
    """Return the mean, shape (d,), of the weights that `sgd` finds on random shards.

    SimuParallelSGD [^1] (Algorithm 3): the examples are dealt out at random, floor(n / machines) to
    each machine, the machines do not communicate, and their weights are averaged once.

    Parameters
    ----------
    X, y
        Inputs (n, d) and signs (n,).
    lam, eta
        The regularisation and the constant step.
    machines
        Number of shards.
    rng
        Deals the examples out.

    References
    ----------
    [^1]: M. Zinkevich, M. Weimer, A. Smola, L. Li. Parallelized Stochastic Gradient Descent. NIPS
    2010.

    """
    if not 1 <= machines <= len(X):
        raise ValueError(f"machines = {machines} must be from 1 to the {len(X)} examples")
    size = len(X) // machines
    dealt = rng.permutation(len(X))[: size * machines].reshape(machines, size)
    mean: Array = np.mean([sgd((X[i], y[i]), lam, eta) for i in dealt], axis=0)
    return mean
