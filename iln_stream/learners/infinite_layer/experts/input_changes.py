"""Predictions of the class from how the inputs change."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.input_changes import WIDTH, WINDOWS, describe_changes
from iln_stream.kernels.mixing import soften
from iln_stream.learners.infinite_layer.expert import Observation, Vector
from iln_stream.learners.infinite_layer.experts.class_ridges import ClassRidges
from iln_stream.learners.infinite_layer.experts.class_trees import ClassTrees
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSSpec
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part

SHARPNESS = 6.0

MOST_COLUMNS = 32
"""The changes of so many inputs are seen at most, the first ones: time grows with the square."""


class InputChanges(Part):
    """A linear ridge and trees on the inputs and their distances from the means of past events.

    The means are over the last 1, 4, 16 and 64 events of the memory: a class may depend on whether
    a price rises, or is above that of the last day. Where labels are late, they are of the events
    whose labels were known at the prediction. `key`, two words, seeds all randomness.
    """

    names = ("changes", "trees")
    parts = ("ridge", "trees")

    def __init__(self, inputs: Inputs, memory: Memory, key: NDArray[np.uint64]) -> None:
        self.inputs = inputs
        self.memory = memory
        self.ridge = ClassRidges((RLSSpec("changes", None),), 0)
        self.trees = ClassTrees(memory, key[1])
        self._make_scratch()

    def _make_scratch(self) -> None:
        length = self.ridge.omega.shape[1]
        self._seen = Observation(0, length)
        self._means = np.empty((length // WIDTH, len(WINDOWS)))

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, if they are seen."""
        more = min(n_columns, MOST_COLUMNS - len(self._means))
        if more:
            self.ridge.widen(WIDTH * more)
            self.trees.widen(WIDTH * more)
            self._make_scratch()

    def add_class(self) -> None:
        """Make room for one more class."""
        self.ridge.add_class()
        self.trees.add_class()

    def predict(self, event: Observation, p: Vector) -> None:
        """Write the probabilities to p (2, C); the ridge's are not finite if its scores are not."""
        self._describe(event)
        scores = np.empty((1, p.shape[1]))
        self.ridge.predict(self._seen, scores)
        if not soften(scores[0], SHARPNESS, p[0]):
            p[0] = np.nan
        self.trees.predict(self._seen.v, p[1])

    def _describe(self, event: Observation) -> None:
        memory = self.memory
        describe_changes(
            memory.columns, memory.n - event.delay, event.delay, event.row, self.inputs.stats,
            event.v, self._means, self._seen.v,
        )  # fmt: skip

    def learn(self, event: Observation, label: int) -> None:
        """Learn the class of the event last predicted."""
        self._seen.weight = event.weight
        self.ridge.learn(self._seen, label, np.empty(0))
        self.trees.learn(self._seen.v, label, event.weight)

    def frozen(self, event: Observation) -> dict[str, Any]:
        """Return ridge and trees, the means of the last events and the scale of each input."""
        self._describe(event)
        sd = self.inputs.sd[: len(self._means)]
        means = {"means": self._means, "sd": sd, "sharpness": SHARPNESS}
        trees = self.trees.frozen(self.ridge.theta.shape[1])
        return self.ridge.frozen(event)[0] | means | {"trees": trees}

    def reinitialise(self, broken: Collection[str]) -> None:
        """Begin without weights, or without splits; the past inputs are the memory's."""
        if any(name.startswith("ridge.") for name in broken):
            self.ridge.reinitialise(())  # which also resets what does not depend on weights
            self.ridge.restart(np.ones(1, bool))
        if any(name.startswith("trees.") for name in broken):
            self.trees.reinitialise(())

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._make_scratch()
