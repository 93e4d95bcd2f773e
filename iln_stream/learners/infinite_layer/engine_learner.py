"""River learners whose whole state is that of an engine."""

from collections.abc import Iterator
from typing import Any

from iln_stream.learners.frames import Frame, Rows
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.restoring import RestorableLearner
from iln_stream.state import StateDict

ROWS = 1024
"""Rows of a table for which the learner's lock is held: a few milliseconds with profile fast."""


class EngineLearner(RestorableLearner):
    """A learner that consists of its constructor's parameters and an engine built from them.

    Attributes
    ----------
    state_version
        Version of the engine's state. A class that changes its engine's parts sets its own,
        `state_version = 3`, and reads older states by `migrations = {2: from_version_2}`, a
        function from a whole state, whose field `learned` is the engine's, to the next version's.

    """

    always_finite = True
    _engine: Part

    def state(self) -> StateDict:
        """Return the learner's state, as nested dicts of arrays and plain values."""
        with self._turn:
            return self._write_state(learned=self._engine.state())

    def restore(self, state: StateDict) -> None:
        """Go on from a state; see `RestorableLearner.restore`."""
        (learned,) = self._read_state(state, "learned")
        with self._turn:
            engine = self.clone()._engine  # parts are restored when they are new
            engine.restore(learned)
            self._engine = engine

    def _predicted_rows(self, frame: Frame) -> Iterator[Rows]:
        """Yield the predictions for the rows of a table, many at a time."""
        engine: Any = self._engine
        for start in range(0, len(frame), ROWS):
            with self._turn:
                predictions = engine.predict_rows(frame, start, min(start + ROWS, len(frame)))
            yield predictions

    def _learn_rows(self, frame: Frame, y: Rows) -> None:
        """Learn the rows of a table, whose labels are y, in their order."""
        frame.warn()
        engine: Any = self._engine
        for start in range(0, len(frame), ROWS):
            with self._turn:
                engine.learn_rows(frame, y, start, min(start + ROWS, len(frame)))
