"""Common base of the estimators over a support."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.estimators.base import EstimatorContext
from iln_stream.learners.estimators.hidden_layer import HiddenLayer, of_support
from iln_stream.learners.estimators.support import Support
from iln_stream.state import StateDict, StateSchema

_SCHEMA = StateSchema("iln_stream.Supported", 1)


class Supported:
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

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Add x to the support."""
        self.support.append(x, alpha)

    def shrink(self, factor: float) -> None:
        """Multiply every alpha_i by `factor`."""
        self.support.shrink(factor)

    def hidden_layer(self, size: int | None, d: int, rng: np.random.Generator) -> HiddenLayer:
        """Return f over fresh units."""
        return of_support(self.support, self._features, size, d, rng)

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
