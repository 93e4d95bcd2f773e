"""What Algorithm 1 requires of f_t: an estimate at a point, a step, and their costs."""

import math
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import Features
from iln_stream.learners.estimators.finite_layer import FiniteLayer
from iln_stream.state import StateDict


class Estimate(NamedTuple):
    """An estimate E of f(x) = <f, Phi(x)>.

    Parameters
    ----------
    value
        E.
    standard_error
        Standard deviation of E, estimated from its own draws; for a single draw the largest
        possible value.
    draws
        m, the number of draws in the mean E; 0 when f = 0, where E = 0 is exact.

    """

    value: float
    standard_error: float
    draws: int

    @classmethod
    def from_terms(cls, terms: NDArray[np.float64]) -> "Estimate":
        """Return the mean of independent terms, shape (m,) with m >= 2, and its standard error.

        Examples
        --------
        >>> Estimate.from_terms(np.array([1.0, 3.0, 2.0, 2.0]))
        Estimate(value=2.0, standard_error=0.408..., draws=4)

        """
        m = len(terms)
        return cls(float(terms.mean()), float(terms.std(ddof=1)) / math.sqrt(m), m)


class DrawPolicy(NamedTuple):
    """How many draws an estimate takes: `fixed`, or enough to keep its variance in bounds."""

    fixed: int | None
    variance: float
    fewest: int
    most: int

    def wanted(self, q: float, alpha_l1: float) -> float:
        """Draws needed to keep the variance of E, at most q ||alpha||_1^2 / m, below `variance`."""
        return q * alpha_l1**2 / self.variance

    def m(self, q: float, alpha_l1: float) -> int:
        """Number of draws to take."""
        if self.fixed is not None:
            return self.fixed
        return max(self.fewest, math.ceil(min(self.wanted(q, alpha_l1), self.most)))


Policy: TypeAlias = Literal["oldest", "smallest", "compress"]
"""Eviction policy of a full support."""


class EstimatorContext(NamedTuple):
    """The parameters of ShrinkingGradient that concern f_t."""

    features: Features[Any]  # the family of hidden units
    draws: DrawPolicy  # how many draws an estimate takes, for an estimator without its own numbers
    budget: int | None  # the most support points kept; None: all
    policy: Policy  # eviction policy of a full support
    key: NDArray[np.uint64]  # two words that seed all randomness


class Iterate(Protocol):
    """f_t = sum_i alpha_i Phi(x_i), in a form that can be estimated and updated.

    Estimating has no visible side effects: E is a function of the state, the point and the event's
    number.
    """

    @property
    def alpha_l1(self) -> float:
        """||alpha||_1."""

    @property
    def n_support(self) -> int:
        """Number of support points x_i."""

    @property
    def draws_wanted(self) -> float | None:
        """Draws needed for the tolerated variance, if more than the maximum; else None."""

    def noise(self, draws: int) -> float:
        """Return a bound on the standard deviation of E from that many draws, given f_t.

        0 where E is not a mean of fresh draws, or where no tight bound is known.
        """

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return E at x, shape (d,), with the randomness of event t."""

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Add alpha Phi(x)."""

    def shrink(self, factor: float) -> None:
        """Multiply every alpha_i by `factor`."""

    def state(self) -> StateDict:
        """Return what was learned; it shares no memory."""

    def restore(self, state: StateDict) -> None:
        """Go on, bit for bit, from a state of an iterate that was started alike."""


class Estimator(Protocol):
    """A way to store and estimate f_t; holds only parameters, as River expects."""

    def start(self, given: EstimatorContext) -> Iterate:
        """Return f_1 = 0."""


@runtime_checkable
class EstimatesWithin(Iterate, Protocol):
    """Can guarantee an accuracy."""

    def estimate_within(self, x: NDArray[np.float64], eps: float, delta: float, t: int) -> Estimate:
        """Return an E with P(|E - f(x)| > eps) <= delta given f, with event t's randomness."""


@runtime_checkable
class HasFiniteLayer(Iterate, Protocol):
    """Can be written as one layer of finitely many units."""

    def finite_layer(
        self, size: int | None, d: int, rng: np.random.Generator
    ) -> tuple[FiniteLayer, NDArray[np.float64] | None]:
        """Return f over `size` units (None: a suitable number) for inputs of d columns.

        And points (n, d) at which to estimate its error, or None if the layer is f itself.
        """
