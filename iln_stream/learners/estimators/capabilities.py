"""Optional abilities of iterates, beyond those that Algorithm 1 requires."""

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators.base import Estimate, Iterate
from iln_stream.learners.estimators.finite_layer import FiniteLayer


@runtime_checkable
class EstimatesWithin(Iterate, Protocol):
    """Can guarantee an accuracy."""

    def estimate_within(self, x: NDArray[np.float64], eps: float, delta: float, t: int) -> Estimate:
        """Return an E with P(|E - f(x)| > eps) <= delta given f, with event t's randomness."""
        ...


@runtime_checkable
class HasFiniteLayer(Iterate, Protocol):
    """Can be written as one layer of finitely many units."""

    def finite_layer(
        self, size: int | None, d: int, rng: np.random.Generator
    ) -> tuple[FiniteLayer, NDArray[np.float64] | None]:
        """Return f over `size` units (None: a suitable number) for inputs of d columns.

        And points (n, d) at which to estimate its error, or None if the layer is f itself.
        """
        ...
