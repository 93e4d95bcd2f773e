"""Doubly stochastic gradients: a random event and fresh random features in each step."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from iln_stream.features import Features, GaussianFourier
from iln_stream.learners.checks import require_counts, require_family, require_positive
from iln_stream.learners.restoring import random_key
from iln_stream.research.feature_maps.from_family import DrawnUnits
from iln_stream.research.related.base import (
    DERIVATIVES,
    SMALLEST_SCALE,
    Array,
    GradientClassifier,
    GradientModel,
    GradientRegressor,
    fitted,
)

_BLOCK = 256
"""Features that are drawn from one seed."""


class DoublyStochastic(GradientModel):
    """What both learners share, with the classifier's defaults; see `DoublyStochasticRegressor`."""

    def __init__(
        self,
        features: Features[Any] | None = None,
        draws: int = 1,
        loss: str = "logistic",
        step: float = 1.0,
        lam: float = 1e-3,
        max_columns: int = 10_000,
        seed: int | None = None,
    ) -> None:
        require_positive(lam=lam)
        super().__init__(loss, step, lam, max_columns, seed)
        require_family(features)
        require_counts(draws=draws)
        if draws > _BLOCK:
            raise ValueError(f"draws = {draws} must be at most {_BLOCK}")
        self.features = features
        self.draws = draws
        self._key = random_key(seed)
        self._blocks: list[tuple[int, list[float]]] = []  # columns, coefficients / s
        self._s = 1.0
        self._t = 0

    @property
    def n_psi(self) -> int:
        """Evaluations of hidden units that a prediction costs: draws times the steps so far."""
        return sum(len(c) for _, c in self._blocks)

    def _f(self, X: Array) -> Array:
        f = np.zeros(len(X))
        for k, (_, c) in enumerate(self._blocks):
            f += self._psi(k, X)[:, : len(c)] @ np.array(c)
        return self._s * f

    def _learn(self, row: Array, y: float) -> None:
        if not self._blocks or self._is_full(len(row)):
            self._blocks.append((len(row), []))
        X = row[np.newaxis]
        psi = [self._psi(k, X)[0] for k in range(len(self._blocks))]
        pairs = zip(psi, self._blocks, strict=True)
        f = self._s * sum(float(p[: len(c)] @ np.array(c)) for p, (_, c) in pairs if c)
        gamma = self.step / (1.0 + self.lam * self.step * self._t)
        self._t += 1
        self._decay(1.0 - gamma * self.lam)
        _, c = self._blocks[-1]
        fresh = psi[-1][len(c) : len(c) + self.draws]
        c += (-gamma / self._s / self.draws * DERIVATIVES[self.loss](f, y) * fresh).tolist()

    def _psi(self, k: int, X: Array) -> Array:
        """Regenerate the features of block k and evaluate them at X (n, d), shape (n, 256)."""
        d, _ = self._blocks[k]
        family = self.features or GaussianFourier()
        w = family.draw(_BLOCK, d, np.random.default_rng([*self._key, k]))
        return DrawnUnits(family, w, _BLOCK, 1.0)(fitted(X, d))

    def _is_full(self, d: int) -> bool:
        columns, c = self._blocks[-1]
        return len(c) + self.draws > _BLOCK or columns < d

    def _decay(self, factor: float) -> None:
        self._s *= factor
        if self._s < SMALLEST_SCALE:
            self._blocks = [(d, [self._s * c_i for c_i in c]) for d, c in self._blocks]
            self._s = 1.0


class DoublyStochasticRegressor(DoublyStochastic, GradientRegressor):
    r"""Kernel regression by doubly stochastic functional gradients.

    Minimises $\mathrm E\, \frac12 (f(x) - y)^2 + \frac\nu2 \|f\|^2$ in the space of the kernel
    $k(x, x') = \mathrm E_w[\psi(x; w) \psi(x'; w)]$. Step t has a random event and random features
    $w_t$, and $f_t(x) = \sum_{i < t} \alpha_i \psi(x; w_i)$ [^1] (Algorithms 1 and 2):

    $\alpha_t = -\gamma_t\, (f_t(x_t) - y_t)\, \psi(x_t; w_t)$, and $\alpha_i \leftarrow (1 -
    \gamma_t \nu) \alpha_i$ for all earlier ones.

    Features are not stored but drawn again from their seed for each evaluation of f; the memory of
    a step is `draws` numbers. Time and memory of an event grow with the stream.

    The source's step is $\theta / t$; here it is $\gamma_t = \theta / (1 + \nu \theta (t - 1))$,
    which tends to that of $\theta = 1 / \nu$ and has a smaller beginning. Features are drawn 256 at
    a time from one seed. Targets are not scaled here: see `iln_stream.ScaledTarget`.

    Parameters
    ----------
    features
        The family of hidden units. None: `GaussianFourier()`.
    draws
        Features of one step, at most 256; $\alpha_t$ is a mean over them. The source's algorithm
        has 1.
    step
        $\theta$, the first step.
    lam
        $\nu$, the strength of the regularisation.
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.
    seed
        Of the features.

    Examples
    --------
    >>> from itertools import islice
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import ScaledTarget, WinsorisedScaler
    >>> from iln_stream.research.related import DoublyStochasticRegressor

    >>> model = ScaledTarget(WinsorisedScaler() | DoublyStochasticRegressor(draws=8, seed=1))
    >>> events = islice(datasets.TrumpApproval(), 300)
    >>> evaluate.progressive_val_score(events, model, metrics.MAE())
    MAE: ...

    References
    ----------
    [^1]: B. Dai, B. Xie, N. He, Y. Liang, A. Raj, M.-F. Balcan, L. Song. Scalable Kernel Methods
    via Doubly Stochastic Gradients. NIPS 2014.

    """

    def __init__(
        self,
        features: Features[Any] | None = None,
        draws: int = 1,
        step: float = 0.5,
        lam: float = 1e-3,
        max_columns: int = 10_000,
        seed: int | None = None,
    ) -> None:
        super().__init__(features, draws, "squared", step, lam, max_columns, seed)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 1}
        yield {"seed": 1, "draws": 7, "step": 0.2}


class DoublyStochasticClassifier(DoublyStochastic, GradientClassifier):
    r"""Kernel classification by doubly stochastic functional gradients.

    The recursion of `DoublyStochasticRegressor` for $y \in \{-1, +1\}$ and another loss.

    Parameters
    ----------
    loss
        "hinge", "logistic", which gives probabilities, or "squared".
    features, draws, step, lam, max_columns, seed
        As in `DoublyStochasticRegressor`.

    Examples
    --------
    >>> from itertools import islice
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.research.related import DoublyStochasticClassifier

    >>> model = preprocessing.StandardScaler() | DoublyStochasticClassifier(draws=8, seed=1)
    >>> events = islice(datasets.Phishing(), 500)
    >>> evaluate.progressive_val_score(events, model, metrics.Accuracy())
    Accuracy: ...%

    """

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for loss in DERIVATIVES:
            yield {"seed": 1, "loss": loss}
