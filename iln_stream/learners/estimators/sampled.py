"""f_t over its support, estimated by Algorithm 2 with fresh draws at every event."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import Features
from iln_stream.learners.estimators.base import Draws, Estimate, Given
from iln_stream.learners.estimators.hidden_layer import HiddenLayer, of_support
from iln_stream.learners.estimators.scalar_product import est_scalar_prod
from iln_stream.learners.estimators.support import Support
from iln_stream.state import Form, Tree
from iln_stream.theory import draws_for

_FORM = Form("SampledIterate", 1)


@dataclass(frozen=True)
class Sampled:
    """Algorithm 2: fresh draws of i and w at every event, as many as the learner's `draws` says.

    E is unbiased, its variance at most q ||alpha||_1^2 / m, its cost O(m d). Theorem 1 is about
    this estimator, with `budget` None.
    """

    def start(self, given: Given) -> "SampledIterate":
        """Return f_1 = 0."""
        return SampledIterate(given.features, given.draws, given.budget, given.key)

    def restore(self, given: Given, state: Tree) -> "SampledIterate":
        """Return the iterate that has this state."""
        (support,) = _FORM.read(state, "support")
        iterate = self.start(given)
        iterate.support = Support.from_state(support)
        return iterate


class SampledIterate:
    """Support points with their alphas."""

    def __init__(
        self,
        features: Features[Any],
        draws: Draws,
        budget: int | None,
        key: NDArray[np.uint64],
    ) -> None:
        self._features = features
        self._draws = draws
        self.support = Support(budget)
        self._key = key

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
        """Draws that the tolerated variance asks for, if they are more than the most allowed."""
        wanted = self._draws.wanted(self._features.q, self.alpha_l1)
        return wanted if self._draws.fixed is None and wanted > self._draws.most else None

    def noise(self, draws: int) -> float:
        """Return ||alpha||_1 sqrt(q / m)."""
        return self.alpha_l1 * math.sqrt(self._features.q / draws) if draws else 0.0

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return Algorithm 2's estimate at x."""
        m = self._draws.m(self._features.q, self.alpha_l1)
        return est_scalar_prod(self.support, x, m, self._features, self._rng(t))

    def estimate_within(self, x: NDArray[np.float64], eps: float, delta: float, t: int) -> Estimate:
        """Return E at x from as many draws as the corrected bound asks for."""
        m = draws_for(eps, delta, self.alpha_l1, self._features.q)
        return est_scalar_prod(self.support, x, m, self._features, self._rng(t))

    def reweighed(self, alpha: NDArray[np.float64]) -> "SampledIterate":
        """Return the same points with other alpha, shape (n,)."""
        iterate = SampledIterate(self._features, self._draws, None, self._key)
        iterate.support = self.support.reweighed(alpha)
        return iterate

    def hidden_layer(self, size: int | None, d: int, rng: np.random.Generator) -> HiddenLayer:
        """Return f over fresh units."""
        return of_support(self.support, self._features, size, d, rng)

    def append(self, x: NDArray[np.float64], alpha: float) -> None:
        """Let x join the support."""
        self.support.append(x, alpha)

    def shrink(self, factor: float) -> None:
        """Multiply every alpha_i by `factor`."""
        self.support.shrink(factor)

    def state(self) -> Tree:
        """Return the support's state."""
        return _FORM.write(support=self.support.state())

    def _rng(self, t: int) -> np.random.Generator:
        """The randomness of event t: its own segment, 2^192 long, of one counter-based stream."""
        counter = np.array([0, 0, 0, t], dtype=np.uint64)
        return np.random.Generator(np.random.Philox(key=self._key, counter=counter))
