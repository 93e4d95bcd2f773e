"""f_t over its support, estimated by Algorithm 2 with fresh draws at every event."""

import math
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import GaussianAffineFeatures
from iln_stream.features.affine import PHASE
from iln_stream.learners.estimators.affine_law import LawOfColumns, compilable
from iln_stream.learners.estimators.base import Estimate, EstimatorContext
from iln_stream.learners.estimators.scalar_product import est_scalar_prod
from iln_stream.learners.estimators.supported import Supported
from iln_stream.theory import draws_for

Units: TypeAlias = Literal["two normals", "direct", "phase integrated"]
"""How to draw a unit."""


@dataclass(frozen=True)
class Sampled:
    """Algorithm 2: fresh draws of i and w at every event; the learner's `draws` sets how many.

    E is unbiased, with variance at most q ||alpha||_1^2 / m, and costs O(m d) for a support of any
    size. Theorem 1 is about this estimator, with `budget` None.

    Parameters
    ----------
    units
        How to draw a unit, for Gaussian ridges, psi(x; w) = sigma(omega.x + b) with
        omega ~ N(0, s^2 I): compiled code draws them, in single precision.
        "direct": draws all d entries of omega. "two normals": draws (omega.x_i, omega.x), which is
        bivariate normal; E has the same distribution as with "direct", in a fraction of the time.
        "phase integrated": for cosines only; averages a draw's product over b, which gives
        cos(omega.(x_i - x)) / 2, with about half the variance and one normal per draw.
        None: "two normals" for Gaussian ridges; other families are always drawn directly.

    Examples
    --------
    >>> from iln_stream import Sampled, ShrinkingGradient
    >>> model = ShrinkingGradient(estimator=Sampled("phase integrated"), draws=100, seed=1)
    >>> model.learn_one({"x": 1.0}, 0.5)
    >>> round(model.estimate({"x": 1.0}).value, 6)  # where x_i = x every draw is 1/2
    0.25

    """

    units: Units | None = None

    def __post_init__(self) -> None:
        if self.units not in (None, "two normals", "direct", "phase integrated"):
            raise ValueError(
                f"units = {self.units!r} must be 'two normals', 'direct' or 'phase integrated'"
            )

    def start(self, given: EstimatorContext) -> "SampledIterate":
        """Return f_1 = 0."""
        family = compilable(given.features)
        if self.units == "phase integrated" and (family is None or family.b_law != PHASE):
            raise ValueError(
                f"units = {self.units!r} needs random Gaussian cosines, not {given.features!r}"
            )
        if self.units == "two normals" and family is None:
            raise ValueError(
                f"units = {self.units!r} needs Gaussian ridges, not {given.features!r}"
            )
        if family is None:
            return SampledIterate(given)
        return SampledRidgesIterate(given, family, self.units or "two normals")


class SampledIterate(Supported):
    """Support points with their alphas, estimated by numpy for any family."""

    def __init__(self, given: EstimatorContext) -> None:
        super().__init__(given)
        self._draws = given.draws
        self._q = given.features.q

    @property
    def draws_wanted(self) -> float | None:
        """Draws needed for the tolerated variance, if more than the maximum; else None."""
        if self._draws.fixed is not None:
            return None
        wanted = self._draws.wanted(self._q, self.alpha_l1)
        return wanted if wanted > self._draws.most else None

    def noise(self, draws: int) -> float:
        """Return ||alpha||_1 sqrt(q / m)."""
        return self.alpha_l1 * math.sqrt(self._q / draws) if draws else 0.0

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return Algorithm 2's estimate at x."""
        m = self._draws.fixed or self._draws.m(self._q, self.alpha_l1)
        return self._estimate(x, m, t)

    def estimate_within(self, x: NDArray[np.float64], eps: float, delta: float, t: int) -> Estimate:
        """Return E at x from the number of draws given by the corrected bound."""
        return self._estimate(x, draws_for(eps, delta, self.alpha_l1, self._q), t)

    def _estimate(self, x: NDArray[np.float64], m: int, t: int) -> Estimate:
        return est_scalar_prod(self.support, x, m, self._features, self.rng(t))


class SampledRidgesIterate(SampledIterate):
    """Support points with their alphas, estimated by compiled code."""

    def __init__(
        self, given: EstimatorContext, family: GaussianAffineFeatures, units: Units
    ) -> None:
        super().__init__(given)
        self._law = LawOfColumns(family)
        self._units = units
        if units == "phase integrated":
            self._q = 0.25  # of cos(omega.(x_i - x)) / 2

    def _estimate(self, x: NDArray[np.float64], m: int, t: int) -> Estimate:
        support = self.support
        alpha_l1 = support.alpha_l1
        if alpha_l1 == 0.0:
            return Estimate(0.0, 0.0, 0)
        law, seed = self._law(len(x)), (self._key[0], t, m)
        if self._units == "phase integrated":
            mean, square = _kernels().phase_integrated(*support.drawable(), x, law.scale, *seed)
        elif self._units == "direct":
            mean, square = _kernels().direct(*support.drawable(), x, *law, *seed)
        else:
            mean, square = _kernels().two_normals(*support.drawable(), x, *law, *seed)
        variance = max(square - mean * mean, 0.0) * m / (m - 1) if m > 1 else 1.0
        return Estimate(alpha_l1 * mean, alpha_l1 * math.sqrt(variance / m), m)


@cache
def _kernels() -> ModuleType:
    # Imported on the first draw: numba takes a moment to import.
    from iln_stream.compiled import sampled_ridges

    return sampled_ridges
