"""Optional abilities of iterates, beyond those that Algorithm 1 requires."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators.base import Estimate, Iterate
from iln_stream.learners.estimators.hidden_layer import HiddenLayer


@runtime_checkable
class EstimatesWithin(Iterate, Protocol):
    """Can guarantee an accuracy."""

    def estimate_within(self, x: NDArray[np.float64], eps: float, delta: float, t: int) -> Estimate:
        """Return an E with P(|E - f(x)| > eps) <= delta given f, with event t's randomness."""
        ...


@runtime_checkable
class Reweighs(Iterate, Protocol):
    """Keeps every appended point, in order."""

    def reweighed(self, alpha: NDArray[np.float64]) -> Iterate:
        """Return sum_i alpha_i Phi(x_i) over the same points with new alpha, shape (n,)."""
        ...


@runtime_checkable
class Averages(Iterate, Protocol):
    """Keeps the average of all f_t."""

    @property
    def current(self) -> Iterate:
        """f_t alone."""
        ...

    def average(self) -> Iterate:
        """Return (1/T) sum_t f_t."""
        ...


@runtime_checkable
class HasFiniteLayer(Iterate, Protocol):
    """Can be written as one layer of finitely many units."""

    def hidden_layer(self, size: int | None, d: int, rng: np.random.Generator) -> HiddenLayer:
        """Return f over `size` units (None: a suitable number) for inputs of d columns."""
        ...
