"""Algorithm 1 as one of the experts."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from iln_stream.learners.estimators import HasFiniteLayer, Pool
from iln_stream.learners.infinite_layer.expert import Expert, Observation, Vector
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.state import not_finite


class ShrinkingGradientExpert(Expert):
    """SHRINKING_GRADIENT on a pool of cosines of the standardised row.

    The ridges solve for their weights; this expert only follows the gradient, at a constant step:
    it is far cheaper, and never settles. It reports ||alpha||_1 and shrinks, the quantities of the
    theory.
    """

    names = ("first-order",)
    own = ("learner",)

    def __init__(self, n_units: int, seed: int) -> None:
        self.learner = ShrinkingGradient(estimator=Pool(n_units), step=0.6, seed=seed)

    def heal(self) -> bool:
        """Begin a new run if the present one is not finite; return whether it is not."""
        broken = not_finite(self.learner.state())
        if broken:
            self.reinitialise(broken)
        return bool(broken)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Begin a new run of Algorithm 1, on the same units."""
        learner = self.learner
        self.learner = ShrinkingGradient(
            learner.features, learner.estimator, step=learner.step, seed=learner.seed
        )

    def predict(self, event: Observation, p: Vector) -> None:
        """Write Algorithm 1's estimate, clipped to +-1."""
        # nan stays nan: of two numbers that can't be compared, both return the first.
        p[0] = min(max(self.learner.estimate_row(event.v).value, -1.0), 1.0)

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        iterate = self.learner.iterate
        assert isinstance(iterate, HasFiniteLayer)
        layer, _ = iterate.finite_layer(None, len(event.v), np.random.default_rng(0))
        return [{"form": "layer", "omega": layer.omega, "b": layer.b, "weights": layer.weights}]

    def learn(self, event: Observation, t: float, p: Vector) -> None:
        """Take a step of Algorithm 1 towards t, clipped to +-1."""
        self.learner.learn_row(event.v, min(max(t, -1.0), 1.0), event.weight)

    def state(self) -> dict[str, Any]:
        """Return the learner's state."""
        return {"learner": self.learner.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.learner = ShrinkingGradient.from_state(state["learner"])
