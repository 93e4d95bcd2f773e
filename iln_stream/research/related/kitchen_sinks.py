"""Random kitchen sinks online: weights learned over a fixed feature map."""

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from iln_stream.features import Features, GaussianFourier
from iln_stream.learners.checks import require_counts, require_family
from iln_stream.learners.restoring import random_key
from iln_stream.research.feature_maps import DrawnMap, FeatureMap, FromFamily
from iln_stream.research.related.base import (
    DERIVATIVES,
    Array,
    GradientClassifier,
    GradientModel,
    GradientRegressor,
    fitted,
)


class KitchenSinks(GradientModel):
    """What both learners share, with the classifier's defaults; see `KitchenSinksRegressor`."""

    def __init__(
        self,
        features: Features[Any] | FeatureMap | None = None,
        n_features: int = 200,
        loss: str = "logistic",
        step: float = 1.0,
        decay_step: bool = False,
        lam: float = 1e-5,
        max_columns: int = 10_000,
        seed: int | None = None,
    ) -> None:
        super().__init__(loss, step, lam, max_columns, seed)
        if not isinstance(features, FeatureMap):
            require_family(features)
        require_counts(n_features=n_features)
        self.features = features
        self.n_features = n_features
        self.decay_step = decay_step
        self._key = random_key(seed)
        self._parts: list[tuple[int, DrawnMap, Array]] = []  # columns, phi, w
        self._t = 0

    @property
    def n_psi(self) -> int:
        """Evaluations of hidden units that a prediction costs."""
        return sum(phi.n_psi for _, phi, _ in self._parts)

    def _f(self, X: Array) -> Array:
        f = np.zeros(len(X))
        for d, phi, w in self._parts:
            f += phi(fitted(X, d)) @ w
        return f

    def _learn(self, row: Array, y: float) -> None:
        if not self._parts or len(row) > self._parts[-1][0]:
            self._draw(len(row))
        d, phi, w = self._parts[-1]
        features = phi(fitted(row[np.newaxis], d)[0])
        f = float(features @ w) + sum(float(phi(row[:d]) @ w) for d, phi, w in self._parts[:-1])
        self._t += 1
        eta = self.step / sqrt(self._t) if self.decay_step else self.step
        for _, _, weights in self._parts:
            weights *= 1.0 - eta * self.lam
        w -= eta * DERIVATIVES[self.loss](f, y) * features

    def _draw(self, d: int) -> None:
        """Draw a map for d columns; from the second on it has room for twice those of the last."""
        if self._parts:
            d = min(max(d, 2 * self._parts[-1][0]), self.max_columns)
        rng = np.random.default_rng([*self._key, len(self._parts)])
        features = self.features or GaussianFourier()
        if isinstance(features, Features):  # with a kernel it looks like a map, too
            features = FromFamily(features, self.n_features, sqrt(2.0))
        phi = features.draw(max(d, 1), rng)
        self._parts.append((max(d, 1), phi, np.zeros(len(phi(np.zeros(max(d, 1)))))))


class KitchenSinksRegressor(KitchenSinks, GradientRegressor):
    r"""Linear regression by stochastic gradient steps over features drawn once.

    Fixed-Random of the infinite-layer paper [^1], random kitchen sinks [^2] learned online: with
    $\phi$ drawn before the first event, $f_t(x) = \langle w_t, \phi(x) \rangle$ and

    $w_{t+1} = (1 - \eta \lambda) w_t - \eta (f_t(x_t) - y_t) \phi(x_t)$.

    Where the source knows the inputs' number of columns, streams may bring new names. Then another
    map is drawn, for twice as many columns or more; f is the sum over all maps, of which the last
    one learns. Targets are not scaled here: see `iln_stream.ScaledTarget`.

    Parameters
    ----------
    features
        A family of hidden units, or a feature map of `iln_stream.research.feature_maps`. None:
        `GaussianFourier()`.
    n_features
        M, for a family: $\phi = \sqrt{2 / M} (\psi(x; w_1), .., \psi(x; w_M))$, so that cosines
        have $k(x, x) = 1$. A feature map has its own number.
    step
        $\eta$, the step; at most 1 where $\|\phi(x)\| \le 1$: larger steps diverge.
    decay_step
        Whether the step is $\eta / \sqrt t$: for streams that do not drift.
    lam
        $\lambda$, the strength of the regularisation; may be 0.
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.
    seed
        Of the features.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import ScaledTarget, WinsorisedScaler
    >>> from iln_stream.research.related import KitchenSinksRegressor

    >>> model = ScaledTarget(WinsorisedScaler() | KitchenSinksRegressor(seed=1))
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    References
    ----------
    [^1]: R. Livni, D. Carmon, A. Globerson. Learning Infinite Layer Networks Without the Kernel
    Trick. ICML 2017.
    [^2]: A. Rahimi, B. Recht. Weighted Sums of Random Kitchen Sinks. NIPS 2008.

    """

    def __init__(
        self,
        features: Features[Any] | FeatureMap | None = None,
        n_features: int = 200,
        step: float = 0.3,
        decay_step: bool = False,
        lam: float = 1e-5,
        max_columns: int = 10_000,
        seed: int | None = None,
    ) -> None:
        super().__init__(features, n_features, "squared", step, decay_step, lam, max_columns, seed)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 1, "n_features": 30}
        yield {"seed": 1, "n_features": 30, "decay_step": True, "lam": 0.01}


class KitchenSinksClassifier(KitchenSinks, GradientClassifier):
    r"""Linear classification by stochastic gradient steps over features drawn once.

    The recursion of `KitchenSinksRegressor` for $y \in \{-1, +1\}$ and another loss.

    Parameters
    ----------
    loss
        "hinge", "logistic", which gives probabilities, or "squared".
    step
        $\eta$, the step.
    features, n_features, decay_step, lam, max_columns, seed
        As in `KitchenSinksRegressor`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.research.related import KitchenSinksClassifier

    >>> model = preprocessing.StandardScaler() | KitchenSinksClassifier(seed=1)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 8...%

    """

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for loss in DERIVATIVES:
            yield {"seed": 1, "n_features": 30, "loss": loss, "step": 0.3}
