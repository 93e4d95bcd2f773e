"""f_t over its support, estimated by Algorithm 2 with fresh draws."""

import math
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import AffineFeatures, Features, GaussianAffineFeatures, as_gaussian_ridges
from iln_stream.features.affine import PHASE
from iln_stream.learners.draws import draws_for
from iln_stream.learners.estimators.base import Estimate, EstimatorContext
from iln_stream.learners.estimators.support import Support, Supported

_NUMBERS_AT_ONCE = 1 << 18
"""Draws are made in blocks of about this many doubles, so memory is bounded for any m."""


def est_scalar_prod(
    support: Support,
    x: NDArray[np.float64],
    m: int,
    features: Features[Any],
    rng: np.random.Generator,
) -> Estimate:
    """Estimate <sum_i alpha_i Phi(x_i), Phi(x)> from m independent draws (Algorithm 2).

    For k = 1..m draw i with probability |alpha_i| / ||alpha||_1 and a fresh w ~ mu; the mean of
    ||alpha||_1 sgn(alpha_i) psi(x_i; w) psi(x; w) is unbiased. Terms lie within +-||alpha||_1, so
    P(|E - <f, Phi(x)>| > eps) <= 2 exp(-m eps^2 / (2 ||alpha||_1^2)) by Hoeffding. (Eq. 19 of the
    paper lacks both factors 2 and does not hold.)

    Parameters
    ----------
    support
        The points x_i and coefficients alpha_i.
    x
        The point, shape (d,).
    m
        Number of draws, at least 1.
    features
        The family: mu and psi.
    rng
        Source of all randomness.

    """
    alpha_l1 = support.alpha_l1
    if alpha_l1 == 0.0:
        return Estimate(0.0, 0.0, 0)
    d = len(x)
    sgn = np.sign(support.alpha)
    total = total_of_squares = 0.0
    block = max(1, _NUMBERS_AT_ONCE // max(d, 1))
    for start in range(0, m, block):
        n = min(block, m - start)
        i = support.sample(n, rng)
        w = features.draw(n, d, rng)
        terms = sgn[i] * features.psi(support.take(i, d), w) * features.psi(x, w)
        total += float(terms.sum())
        total_of_squares += float(terms @ terms)
    mean = total / m
    variance = max(total_of_squares - m * mean**2, 0.0) / (m - 1) if m > 1 else 1.0
    return Estimate(alpha_l1 * mean, alpha_l1 * math.sqrt(variance / m), m)


class AffineLaw(NamedTuple):
    """psi(x; w) = sigma(omega.x + b) with omega ~ N(0, scale^2 I)."""

    scale: float  # of omega; in turns for cosines
    bias: float  # b ~ N(0, bias^2) or U[0, bias); in turns for cosines
    normal_bias: bool  # whether b is normal
    activation: int  # the code of sigma


def compilable(features: Features[Any]) -> GaussianAffineFeatures | None:
    """Return a family that compiled code can draw from: Gaussian ridges of x as it is."""
    family = as_gaussian_ridges(features)
    if family is None or type(family).inputs is not GaussianAffineFeatures.inputs:
        return None
    return family


def ridge_law(family: GaussianAffineFeatures, d: int) -> AffineLaw:
    """Return the law for inputs of d columns."""
    one, b = unit(family), family.b_law
    return AffineLaw(family.scale(d) / one, b.scale / one, b.name == "normal", code(family))


class LawOfColumns:
    """A family's law for inputs of d columns, cached for the last d."""

    def __init__(self, family: GaussianAffineFeatures) -> None:
        self._family = family
        self._d = -1
        self._law: AffineLaw

    def __call__(self, d: int) -> AffineLaw:
        """Return the law for inputs of d columns."""
        if d != self._d:
            self._d, self._law = d, ridge_law(self._family, d)
        return self._law

    def __reduce__(self) -> tuple[Any, ...]:
        return LawOfColumns, (self._family,)


def unit(family: AffineFeatures) -> float:
    """Return the unit of omega and b in compiled code: turns for cosines."""
    return 2.0 * math.pi if family.activation == "cos" else 1.0


def code(family: AffineFeatures) -> int:
    """Return the activation's code in compiled functions."""
    # Imported on first use: numba takes a moment to import.
    from iln_stream.kernels.activations import CODES

    return CODES[family.activation]


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
        if self._draws.fixed is not None:
            return None
        wanted = self._draws.wanted(self._q, self.alpha_l1)
        return wanted if wanted > self._draws.most else None

    def noise(self, draws: int) -> float:
        """Return ||alpha||_1 sqrt(q / m)."""
        return self.alpha_l1 * math.sqrt(self._q / draws) if draws else 0.0

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return Algorithm 2's estimate at x."""
        return self._estimate(x, self._draws.m(self._q, self.alpha_l1), t)

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
    from iln_stream.kernels import sampled_ridges

    return sampled_ridges
