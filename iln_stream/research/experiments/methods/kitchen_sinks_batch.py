"""Random kitchen sinks: weights over random units by convex optimisation."""

from collections.abc import Callable
from typing import Any

import numpy as np

from iln_stream.features import Features
from iln_stream.research.experiments.methods.linear_svm import linear_svm
from iln_stream.research.experiments.methods.ridges import Array, ridge
from iln_stream.research.feature_maps.from_family import DrawnUnits

_SMOOTHING = 1e-2
_STEPS = 5000


class RandomKitchenSinks:
    r"""f(x) = sum_k alpha_k psi(x; w_k) with K random units and learned alpha [^1] (Algorithm 1).

    Draws $w_1, .., w_K \sim \mu$ and minimises the mean loss over alpha. The source bounds
    $\|\alpha\|_\infty \le C / K$ in its theory, and drops the bound in its experiments, which are
    least squares; the penalty is ours, and each is an option:

    - squared loss $(f - y)^2 / 2$ with $\frac\lambda2 \|\alpha\|^2$: ridge regression;
    - hinge loss with the penalty: `linear_svm`;
    - with the bound: accelerated projected gradient steps; the hinge loss is smoothed near its
      kink, which adds at most 0.005 to the objective. The penalty may then be 0.

    Parameters
    ----------
    family
        $\psi$ and $\mu$, such as `DecisionStumps`, `GaussianFourier` or `Sigmoid`.
    n_units
        K.
    loss
        "squared" or "hinge".
    lam
        $\lambda$.
    bound
        C; None: no bound.
    seed
        Of the units.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.research.experiments.methods.kitchen_sinks_batch import RandomKitchenSinks
    >>> from iln_stream.features import DecisionStumps
    >>> X = np.random.default_rng(0).uniform(-3, 3, (400, 2))
    >>> y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
    >>> model = RandomKitchenSinks(DecisionStumps(), n_units=100, bound=10.0).fit(X, y)
    >>> bool(np.mean(np.sign(model.decision(X)) == y) > 0.9)
    True
    >>> bool(np.abs(model.alpha).max() <= 0.1)
    True

    References
    ----------
    [^1]: A. Rahimi, B. Recht. Weighted Sums of Random Kitchen Sinks. NIPS 2008.

    """

    def __init__(
        self,
        family: Features[Any],
        n_units: int,
        loss: str = "squared",
        lam: float = 1e-4,
        bound: float | None = None,
        seed: int = 0,
    ) -> None:
        if loss not in _SLOPES:
            raise ValueError(f"loss = {loss!r} must be one of {', '.join(_SLOPES)}")
        if lam < 0.0 or (lam == 0.0 and bound is None):
            raise ValueError(f"lam = {lam!r} must be positive, or 0 with a bound")
        self.family = family
        self.n_units = n_units
        self.loss = loss
        self.lam = lam
        self.bound = bound
        self.seed = seed

    def fit(self, X: Array, y: Array) -> "RandomKitchenSinks":
        """Train on inputs (n, d) and targets or signs (n,)."""
        rng = np.random.default_rng(self.seed)
        w = self.family.draw(self.n_units, X.shape[1], rng)
        self.units = DrawnUnits(self.family, w, self.n_units, 1.0)
        Psi = self.units(X)
        if self.bound is not None:
            self.alpha = self._bounded(Psi, y, self.bound / self.n_units)
        elif self.loss == "squared":
            self.alpha = ridge(Psi, y, self.lam * len(y))
        else:
            self.alpha = linear_svm(Psi, y, self.lam, epochs=100, seed=self.seed)
        return self

    def decision(self, X: Array) -> Array:
        """Return f of each input, shape (n,)."""
        f: Array = self.units(X) @ self.alpha
        return f

    def _bounded(self, Psi: Array, y: Array, largest: float) -> Array:
        """Minimise over the box by FISTA, until the steps are small."""
        n, K = Psi.shape
        steepest, slope = _SLOPES[self.loss]
        gram = Psi.T @ Psi if n >= K else Psi @ Psi.T
        L = float(np.linalg.eigvalsh(gram)[-1]) * steepest / n + self.lam
        alpha, ahead, momentum = np.zeros(K), np.zeros(K), 1.0
        for _ in range(_STEPS):
            gradient = Psi.T @ slope(Psi @ ahead, y) / n + self.lam * ahead
            new = np.clip(ahead - gradient / L, -largest, largest)
            if (ahead - new) @ (new - alpha) > 0.0:  # it went too far: forget the momentum
                momentum = 1.0
            following = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
            step = new - alpha
            ahead = new + (momentum - 1.0) / following * step
            alpha, momentum = new, following
            if np.abs(step).max() <= 1e-7 * largest:
                break
        return alpha


def _smooth_hinge(f: Array, y: Array) -> Array:
    """Derivative of the hinge loss, linear over a width of `_SMOOTHING` below its kink."""
    return -y * np.clip((1.0 - y * f) / _SMOOTHING, 0.0, 1.0)


_SLOPES: dict[str, tuple[float, Callable[[Array, Array], Array]]] = {
    "hinge": (1.0 / _SMOOTHING, _smooth_hinge),
    "squared": (1.0, lambda f, y: f - y),
}
"""The largest second derivative of each loss, and its first."""
