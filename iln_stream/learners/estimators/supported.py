"""Common base of the estimators over a support."""

from abc import ABC, abstractmethod
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators.base import Estimate, EstimatorContext
from iln_stream.learners.estimators.finite_layer import FiniteLayer, layer_of
from iln_stream.learners.estimators.support import Support
from iln_stream.state import StateDict, StateSchema

_SCHEMA = StateSchema("iln_stream.Supported", 1)

_UNITS = 1024
"""Number of units of a finite layer, if not given."""

_LATEST = 100
"""Number of points at which a finite layer's error is estimated."""


class Supported(ABC):
    """Support points with their alphas; a subclass estimates."""

    def __init__(self, given: EstimatorContext) -> None:
        self.support = Support(given.budget, given.policy, int(given.key[1]))
        self._features = given.features
        self._key = given.key

    @property
    def alpha_l1(self) -> float:
        """||alpha||_1."""
        return self.support.alpha_l1

    @property
    def n_support(self) -> int:
        """Number of support points."""
        return len(self.support)

    @property
    def draws_wanted(self) -> float | None:
        """Draws needed for the tolerated variance, if more than the maximum; else None."""
        return None

    def noise(self, draws: int) -> float:
        """Return 0, unless a subclass knows a tight bound."""
        return 0.0

    @abstractmethod
    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return E at x, shape (d,), with the randomness of event t."""

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Add x to the support."""
        self.support.append(x, alpha)

    def shrink(self, factor: float) -> None:
        """Multiply every alpha_i by `factor`."""
        self.support.shrink(factor)

    def reweighed(self, alpha: NDArray[np.float64]) -> Self:
        """Return sum_i alpha_i Phi(x_i) over the same points with new alpha, shape (n,).

        There must be no budget.
        """
        iterate = copy(self)
        iterate.support = self.support.reweighed(alpha)
        return iterate

    def finite_layer(
        self, size: int | None, d: int, rng: np.random.Generator
    ) -> tuple[FiniteLayer, NDArray[np.float64]]:
        """Return f over fresh units, weights_r = sum_i alpha_i psi(x_i; w_r) / R, in O(n R d) time.

        And the latest points, at which to estimate the error due to the finite R.
        """
        size = _UNITS if size is None else size
        if size < 2 or size != int(size):
            raise ValueError(f"size = {size!r} must be a whole number of units, at least 2")
        w = self._features.draw(size, d, rng)
        theta = np.zeros(size)
        X = self.support.rows(d)
        for x, alpha in zip(X, self.support.alpha, strict=True):
            theta += alpha * self._features.psi(x, w)
        return layer_of(self._features, w, theta / size, d), X[-_LATEST:].copy()

    def state(self) -> StateDict:
        """Return the support's state."""
        return _SCHEMA.write(support=self.support.state())

    def restore(self, state: StateDict) -> None:
        """Take the support of a state."""
        (support,) = _SCHEMA.read(state, "support")
        self.support.restore(support)

    def rng(self, t: int) -> np.random.Generator:
        """The randomness of event t: its own segment, 2^192 long, of one counter-based stream."""
        counter = np.array([0, 0, 0, t], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=self._key, counter=counter))
