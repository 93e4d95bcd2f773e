"""River learners whose whole state is that of an engine."""

from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.restoring import RestorableLearner
from iln_stream.state import StateDict


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
