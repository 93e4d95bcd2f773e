"""f_t over its whole support, under fresh hidden units at every event."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import AffineFeatures, as_ridges
from iln_stream.learners.estimators.base import Estimate, EstimatorContext
from iln_stream.learners.estimators.sampled import code, unit
from iln_stream.learners.estimators.support import Supported

_PRODUCTS_AT_ONCE = 1 << 18  # larger matrix products use threads, without gain
_FEWEST_POINTS, _MOST_POINTS = 64, 2048
_LARGEST_OMEGA = 1e18  # times the largest input still a number in single precision


@dataclass(frozen=True)
class Full:
    """R fresh units, each summed over the whole support.

    E = (1/R) sum_r psi(x; w_r) sum_i alpha_i psi(x_i; w_r), which is unbiased, with variance at
    most ||f_t||^2 / R. This does not depend on ||alpha||_1, so `Full` wins once ||alpha||_1 is many
    times ||f_t||. It costs O(R n d) for a support of n points, as one matrix product in single
    precision where units are ridges, and one call per point otherwise.

    Theorem 1 requires draws bounded by ||alpha||_1, which its proof relates to m. These draws are
    (|sum_i alpha_i psi(x_i; w)| <= ||alpha||_1), so it holds with m = R and `budget` None.

    Parameters
    ----------
    features
        R, at least 2.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import Full, ScaledTarget, ShrinkingGradient, WinsorisedScaler

    >>> learner = ShrinkingGradient(estimator=Full(64), step=0.3, budget=500, seed=1)
    >>> model = ScaledTarget(WinsorisedScaler() | learner)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.65...

    """

    features: int = 64

    def __post_init__(self) -> None:
        if self.features < 2:
            raise ValueError(f"features = {self.features} must be at least 2 units")

    def start(self, given: EstimatorContext) -> "FullIterate":
        family = as_ridges(given.features)
        if family is None:
            return FullIterate(given, self.features)
        return FullRidgesIterate(given, self.features, family)


class FullIterate(Supported):
    """Support points with their alphas, evaluated one by one for any family."""

    def __init__(self, given: EstimatorContext, features: int) -> None:
        super().__init__(given)
        self._size = features

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return the mean over R fresh units."""
        if self.alpha_l1 == 0.0:
            return Estimate(0.0, 0.0, 0)
        d = len(x)
        w = self._features.draw(self._size, d, self.rng(t))
        theta = np.zeros(self._size)
        for x_i, alpha in zip(self.support.rows(d), self.support.alpha, strict=True):
            theta += alpha * self._features.psi(x_i, w)
        return Estimate.from_terms(theta * self._features.psi(x, w))


class FullRidgesIterate(FullIterate):
    """Support points with their alphas, evaluated by matrix products."""

    def __init__(self, given: EstimatorContext, features: int, family: AffineFeatures) -> None:
        super().__init__(given, features)
        self._family = family

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        # Imported on first use: numba takes a moment to import.
        from iln_stream.kernels.supports import add_points

        if self.alpha_l1 == 0.0:
            return Estimate(0.0, 0.0, 0)
        family, d = self._family, len(x)
        w = family.draw(self._size, d, self.rng(t))
        omega = np.clip(w.omega, -_LARGEST_OMEGA, _LARGEST_OMEGA) / unit(family)
        omega_T = np.ascontiguousarray(omega.T, dtype=np.float32)  # (d, R)
        b = (w.b / unit(family)).astype(np.float32)
        theta = np.zeros(self._size)
        for rows, alpha in self._blocks(d):
            add_points(theta, rows @ omega_T[: rows.shape[1]], b, alpha, code(family))
        psi = np.zeros(self._size)
        row = family.inputs(x).astype(np.float32)[np.newaxis]
        add_points(psi, row @ omega_T, b, np.ones(1), code(family))
        return Estimate.from_terms(theta * psi)

    def _blocks(self, d: int) -> Iterator[tuple[NDArray[Any], NDArray[np.float64]]]:
        """The support's rows as units see them, with their alphas.

        Oldest first, not in memory order: sums are then the same in a restored learner.
        """
        support = self.support
        if type(self._family).inputs is not AffineFeatures.inputs:
            rows = self._family.inputs(support.rows(d)).astype(np.float32)
        else:
            rows = support.stored(d)
        alphas = support.alpha
        points = _PRODUCTS_AT_ONCE // (self._size * max(d, 1))
        points = max(_FEWEST_POINTS, min(points, _MOST_POINTS))
        for start in range(0, len(rows), points):
            block = slice(start, start + points)
            yield rows[block], alphas[block]
