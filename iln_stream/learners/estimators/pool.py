"""f_t as weights over a pool of units that persist from event to event."""

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import Activation, AffineFeatures, as_ridges
from iln_stream.learners.estimators.base import Estimate, EstimatorContext
from iln_stream.learners.estimators.finite_layer import FiniteLayer
from iln_stream.learners.estimators.units import AffineUnits, ridge_units
from iln_stream.state import StateDict, StateSchema

_SCHEMA = StateSchema("iln_stream.PoolIterate", 1)


@dataclass(frozen=True)
class Pool:
    """R units drawn once, w_1..w_R ~ mu, with weights theta_r = sum_i alpha_i psi(x_i; w_r).

    E = (1/R) sum_r theta_r psi(x; w_r) takes O(R d) time and memory for streams of any length: no
    support is needed. This is the paper's baseline Fixed-Random (Section 6) with Algorithm 1's
    steps. alpha now depends on the pool, so E is a biased estimate of <f_t, Phi(x)>, and Theorem 1
    does not hold; it learns the best function of these R units, O(1 / sqrt(R)) away from the
    infinite layer's. If alpha were independent of the pool, E would be unbiased with variance at
    most ||f||^2 / R; its standard error, estimated from the R terms, refers to that case.

    It needs a family of ridge units: Gaussian, Laplacian and Cauchy Fourier features, `Erf`,
    `Tanh`, `Sigmoid`, `ArcCosine`, or an `AffineFeatures` of your own. Parameters that the family
    derives from the number of columns, such as gamma = 1/d, are fixed by the first learned event.

    Parameters
    ----------
    size
        R, the number of units, at least 2.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import Pool, ScaledTarget, ShrinkingGradient, WinsorisedScaler

    >>> learner = ShrinkingGradient(estimator=Pool(512), step=0.6, seed=1)
    >>> model = ScaledTarget(WinsorisedScaler() | learner)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.377...

    """

    size: int = 512

    def __post_init__(self) -> None:
        if self.size < 2:
            raise ValueError(f"size = {self.size} must be at least 2 units")

    def start(self, given: EstimatorContext) -> "PoolIterate":
        """Return f_1 = 0."""
        return PoolIterate(self.size, ridges_for("Pool", given), given.key)


def ridges_for(asking: str, given: EstimatorContext) -> AffineFeatures:
    """Return the family, if a pool can keep its units.

    Raises
    ------
    ValueError
        When its units are not ridges.

    """
    family = as_ridges(given.features)
    if family is None or family.activation not in get_args(Activation):
        raise ValueError(
            f"{asking} needs ridge units sigma(omega.x + b), not {given.features!r}: use "
            "GaussianFourier, LaplacianFourier, CauchyFourier, Erf, Tanh, Sigmoid, ArcCosine or an "
            f"AffineFeatures whose activation is one of {', '.join(get_args(Activation))}"
        )
    return family


class PoolIterate:
    """theta over a pool of units."""

    draws_wanted = None

    def __init__(self, size: int, family: AffineFeatures, key: NDArray[np.uint64]) -> None:
        self._family = family
        self._key = key
        self._theta = np.zeros(size)
        self._units: AffineUnits | None = None  # drawn for the first point's number of columns
        self.alpha_l1 = 0.0

    @property
    def n_support(self) -> int:
        """0: the pool replaces the support."""
        return 0

    @property
    def n_units(self) -> int:
        """R, the number of units."""
        return len(self._theta)

    def noise(self, draws: int) -> float:
        """Return 0: the units are drawn once, so E is not a mean of fresh draws."""
        return 0.0

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return the pool's value at x, the same at every t."""
        if self._units is None:
            return Estimate(0.0, 0.0, 0)
        size = len(self._theta)
        mean, square = self._units.mean_and_square(self._theta, x)
        return Estimate(mean, math.sqrt(max(square - mean * mean, 0.0) / (size - 1)), size)

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """theta_r += alpha psi(x; w_r)."""
        if self._units is None:
            self._units = ridge_units(self._family, len(x), self._key)
        self._units.add(self._theta, x, alpha)
        self.alpha_l1 += abs(alpha)

    def shrink(self, factor: float) -> None:
        """Multiply theta, and so every alpha_i, by `factor`."""
        self._theta *= factor
        self.alpha_l1 *= factor

    def finite_layer(
        self, size: int | None, d: int, rng: np.random.Generator
    ) -> tuple[FiniteLayer, None]:
        """Return the pool itself, for points of d columns, d at least the number learned."""
        if size not in (None, self.n_units):
            raise ValueError(
                f"size = {size} is not the pool's, {self.n_units}: a pool is frozen as it is, so "
                "leave size out"
            )
        units = self._units or ridge_units(self._family, d, self._key)
        return units.layer(self._theta, d), None

    def state(self) -> StateDict:
        """Return theta, and the first point's number of columns, on which the units depend."""
        d_first = None if self._units is None else self._units.d_first
        return _SCHEMA.write(theta=self._theta.copy(), alpha_l1=self.alpha_l1, d_first=d_first)

    def restore(self, state: StateDict) -> None:
        """Take theta of a state; the units are drawn again."""
        theta, self.alpha_l1, d_first = _SCHEMA.read(state, "theta", "alpha_l1", "d_first")
        self._theta = theta.copy()
        drawn = d_first is not None
        self._units = ridge_units(self._family, d_first, self._key) if drawn else None
