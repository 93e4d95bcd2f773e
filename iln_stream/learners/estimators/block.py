"""f_t over its support, estimated by fresh units, each evaluated at several points."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import GaussianAffineFeatures
from iln_stream.learners.estimators.base import Estimate, EstimatorContext
from iln_stream.learners.estimators.sampled import LawOfColumns, compilable
from iln_stream.learners.estimators.support import Supported


@dataclass(frozen=True)
class Block:
    """R fresh units, each with S points drawn from the support.

    E = (1/R) sum_r psi(x; w_r) (||alpha||_1 / S) sum_s sgn(alpha_i) psi(x_i; w_r), i = i_rs drawn
    with probability |alpha_i| / ||alpha||_1. It is unbiased, with variance at most
    (q ||alpha||_1^2 / S + ||f_t||^2) / R, and costs O(R (S + 1) d) for a support of any size:
    a unit's d random numbers serve S points.

    Theorem 1 requires a mean of independent draws within +-||alpha||_1. The R terms are such
    draws, so it holds with m = R and `budget` None.

    Parameters
    ----------
    features
        R, at least 2.
    points
        S, at least 1.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import Block, ScaledTarget, ShrinkingGradient, WinsorisedScaler

    >>> learner = ShrinkingGradient(estimator=Block(64, 16), step=0.05, budget=500, seed=1)
    >>> model = ScaledTarget(WinsorisedScaler() | learner)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.77...

    """

    features: int = 64
    points: int = 16

    def __post_init__(self) -> None:
        if self.features < 2:
            raise ValueError(f"features = {self.features} must be at least 2 units")
        if self.points < 1:
            raise ValueError(f"points = {self.points} must be at least 1")

    def start(self, given: EstimatorContext) -> "BlockIterate":
        family = compilable(given.features)
        if family is None:
            return BlockIterate(given, self)
        return BlockRidgesIterate(given, self, family)


class BlockIterate(Supported):
    """Support points with their alphas, estimated by numpy for any family."""

    def __init__(self, given: EstimatorContext, sizes: Block) -> None:
        super().__init__(given)
        self._R, self._S = sizes.features, sizes.points

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return the mean over R fresh units."""
        if self.alpha_l1 == 0.0:
            return Estimate(0.0, 0.0, 0)
        d, rng = len(x), self.rng(t)
        w = self._features.draw(self._R, d, rng)
        sgn = np.sign(self.support.alpha)
        theta = np.zeros(self._R)
        for _ in range(self._S):
            i = self.support.sample(self._R, rng)
            theta += sgn[i] * self._features.psi(self.support.take(i, d), w)
        return Estimate.from_terms(self.alpha_l1 / self._S * theta * self._features.psi(x, w))


class BlockRidgesIterate(BlockIterate):
    """Support points with their alphas, estimated by compiled code."""

    def __init__(
        self, given: EstimatorContext, sizes: Block, family: GaussianAffineFeatures
    ) -> None:
        super().__init__(given, sizes)
        self._law = LawOfColumns(family)

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        # Imported on first use: numba takes a moment to import.
        from iln_stream.kernels import sampled_ridges

        alpha_l1 = self.alpha_l1
        if alpha_l1 == 0.0:
            return Estimate(0.0, 0.0, 0)
        law, seed = self._law(len(x)), (self._key[0], t)
        terms = np.empty(self._R)
        sampled_ridges.block(*self.support.drawable(), x, *law, *seed, self._S, terms)
        return Estimate.from_terms(alpha_l1 * terms)
