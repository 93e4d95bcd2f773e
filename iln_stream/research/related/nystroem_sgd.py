"""Weights learned over Nystroem features whose landmarks are sampled from the stream."""

from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np

from iln_stream.features import GaussianFourier
from iln_stream.learners.checks import require_counts, require_positive
from iln_stream.research.feature_maps import FromFamily, LandmarkReservoir, NystroemMap
from iln_stream.research.related.base import (
    DERIVATIVES,
    Array,
    GradientClassifier,
    GradientModel,
    GradientRegressor,
    fitted,
)


class NystroemSGD(GradientModel):
    """What both learners share, with the classifier's defaults; see `NystroemRegressor`."""

    def __init__(
        self,
        n_landmarks: int = 50,
        gamma: float = 0.1,
        loss: str = "logistic",
        step: float = 1.0,
        lam: float = 1e-5,
        max_columns: int = 10_000,
        seed: int | None = None,
    ) -> None:
        super().__init__(loss, step, lam, max_columns, seed)
        require_counts(n_landmarks=n_landmarks)
        require_positive(gamma=gamma)
        self.n_landmarks = n_landmarks
        self.gamma = gamma
        self._reservoir = LandmarkReservoir(n_landmarks, np.random.default_rng(seed))
        self._phi: NystroemMap | None = None
        self._w = np.zeros(0)

    def _f(self, X: Array) -> Array:
        if self._phi is None:
            return np.zeros(len(X))
        f: Array = self._features(self._phi, X) @ self._w
        return f

    def _learn(self, row: Array, y: float) -> None:
        if self._reservoir.update(row):
            self._take_landmarks(len(row))
        assert self._phi is not None
        features = self._features(self._phi, row[np.newaxis])[0]
        slope = DERIVATIVES[self.loss](float(features @ self._w), y)
        self._w *= 1.0 - self.step * self.lam
        self._w -= self.step * slope * features

    def _features(self, phi: NystroemMap, X: Array) -> Array:
        d = phi.landmarks.shape[1]
        # Columns that no landmark has only add to the distances.
        shrinks = np.exp(-self.gamma * (X[:, d:] ** 2).sum(axis=1))
        features: Array = phi(fitted(X, d)) * shrinks[:, np.newaxis]
        return features

    def _take_landmarks(self, d: int) -> None:
        """Take the reservoir's points as landmarks, and project f on their span."""
        kernel = FromFamily(GaussianFourier(self.gamma), 1, sqrt(2.0)).kernel
        assert kernel is not None
        old, width = self._phi, max(d, 0 if self._phi is None else self._phi.landmarks.shape[1])
        self._phi = NystroemMap(kernel, self._reservoir.points(width))
        if old is None:
            self._w = np.zeros(1)
        else:
            old.landmarks = fitted(old.landmarks, width)
            self._w = self._phi.project(old, self._w)


class NystroemRegressor(NystroemSGD, GradientRegressor):
    r"""Linear regression by stochastic gradient steps over Nystroem features.

    Landmarks are a uniform sample of the events so far [^1]. $f(x) = \langle w, \phi(x) \rangle$
    with the Nystroem features $\phi$ [^2] of the Gaussian kernel, and $w \leftarrow (1 - \eta
    \lambda) w - \eta (f(x) - y) \phi(x)$. When the sample changes, f is projected on the span of
    the new landmarks' kernels. After t > m events that happens with probability m / t, and costs
    $O(m^3)$. Targets are not scaled here: see `iln_stream.ScaledTarget`.

    Parameters
    ----------
    n_landmarks
        m, the number of landmarks: the events whose kernels span the features.
    gamma
        Inverse squared width of the kernel exp(-gamma ||x - x'||^2).
    step
        $\eta$, the step; at most 1: larger steps diverge.
    lam
        $\lambda$, the strength of the regularisation; may be 0.
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.
    seed
        Of the sample.

    Examples
    --------
    >>> from itertools import islice
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import ScaledTarget, WinsorisedScaler
    >>> from iln_stream.research.related import NystroemRegressor

    >>> model = ScaledTarget(WinsorisedScaler() | NystroemRegressor(seed=1))
    >>> events = islice(datasets.TrumpApproval(), 300)
    >>> evaluate.progressive_val_score(events, model, metrics.MAE())
    MAE: 0...

    References
    ----------
    [^1]: J. S. Vitter. Random Sampling with a Reservoir. ACM Transactions on Mathematical Software
    11, 1985.
    [^2]: C. Williams, M. Seeger. Using the Nystroem Method to Speed Up Kernel Machines. NIPS 2000.

    """

    def __init__(
        self,
        n_landmarks: int = 50,
        gamma: float = 0.1,
        step: float = 0.3,
        lam: float = 1e-5,
        max_columns: int = 10_000,
        seed: int | None = None,
    ) -> None:
        super().__init__(n_landmarks, gamma, "squared", step, lam, max_columns, seed)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 1, "n_landmarks": 10}


class NystroemClassifier(NystroemSGD, GradientClassifier):
    r"""Linear classification by stochastic gradient steps over Nystroem features.

    The recursion of `NystroemRegressor` for $y \in \{-1, +1\}$ and another loss.

    Parameters
    ----------
    loss
        "hinge", "logistic", which gives probabilities, or "squared".
    step
        $\eta$, the step.
    n_landmarks, gamma, lam, max_columns, seed
        As in `NystroemRegressor`.

    Examples
    --------
    >>> from itertools import islice
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.research.related import NystroemClassifier

    >>> model = preprocessing.StandardScaler() | NystroemClassifier(seed=1)
    >>> events = islice(datasets.Phishing(), 500)
    >>> evaluate.progressive_val_score(events, model, metrics.Accuracy())
    Accuracy: 8...%

    """

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 1, "n_landmarks": 10}
        yield {"seed": 1, "n_landmarks": 10, "loss": "hinge"}
