"""Algorithm 1 as one of the experts."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.clipping import clipped
from iln_stream.learners.estimators import Pool
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.shrinking_gradient import ShrinkingGradient


class FirstOrder(Part):
    """SHRINKING_GRADIENT on a pool of cosines of the standardised row.

    The ridges solve for their weights; this expert only follows the gradient, at a constant step:
    it is far cheaper, and never settles. It reports ||alpha||_1 and shrinks, the quantities of the
    theory.

    Parameters
    ----------
    size
        R, the number of units.
    seed
        Seeds the units.

    """

    kept = ()

    def __init__(self, size: int, seed: int) -> None:
        self.learner = ShrinkingGradient(estimator=Pool(size), step=0.6, seed=seed)

    def predict(self, v: NDArray[np.float64]) -> float:
        """Return Algorithm 1's estimate at v (d,), clipped to +-1."""
        return clipped(self.learner.estimate_row(v).value, 1.0)

    def learn(self, v: NDArray[np.float64], t: float) -> None:
        """Take a step of Algorithm 1 towards t, clipped to +-1."""
        self.learner.learn_row(v, clipped(t, 1.0))

    def state(self) -> dict[str, Any]:
        """Return the learner's state."""
        return {"learner": self.learner.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        self.learner = ShrinkingGradient.from_state(state["learner"])
