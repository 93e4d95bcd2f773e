"""Prediction of the class from how the inputs change."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from iln_stream.kernels.input_changes import WIDTH, WINDOWS, describe_changes
from iln_stream.kernels.mixing import soften
from iln_stream.learners.infinite_layer.expert import Observation, Vector
from iln_stream.learners.infinite_layer.experts.class_ridges import ClassRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSSpec
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part

SHARPNESS = 6.0

MOST_COLUMNS = 32
"""The changes of so many inputs are seen at most, the first ones: time grows with the square."""


class InputChanges(Part):
    """A linear ridge on the inputs, and on their distances from the means of past events.

    The means are over the last 1, 4, 16 and 64 events of the memory: a class may depend on whether
    a price rises, or is above that of the last day. Where labels are late, they are of the events
    whose labels were known at the prediction.

    Parameters
    ----------
    inputs, memory
        Of the learner that it belongs to.

    """

    names = ("changes",)
    parts = ("ridge",)

    def __init__(self, inputs: Inputs, memory: Memory) -> None:
        self.inputs = inputs
        self.memory = memory
        self.ridge = ClassRidges((RLSSpec("changes", None),), 0)
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
            self._make_scratch()

    def add_class(self) -> None:
        """Make room for one more class."""
        self.ridge.add_class()

    def predict(self, event: Observation, p: Vector) -> None:
        """Write the probabilities to p (1, C); they are not finite if the scores are not."""
        self._describe(event)
        scores = np.empty(p.shape)
        self.ridge.predict(self._seen, scores)
        if not soften(scores[0], SHARPNESS, p[0]):
            p[:] = np.nan

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

    def frozen(self, event: Observation) -> dict[str, Any]:
        """Return the ridge, the means of the last events and the scale of each input."""
        self._describe(event)
        sd = self.inputs.sd[: len(self._means)]
        means = {"means": self._means, "sd": sd, "sharpness": SHARPNESS}
        return self.ridge.frozen(event)[0] | means

    def reinitialise(self, broken: Collection[str]) -> None:
        """Begin without weights; the past inputs are the memory's."""
        self.ridge.reinitialise(())  # which also resets what does not depend on weights
        self.ridge.restart(np.ones(1, bool))

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._make_scratch()
