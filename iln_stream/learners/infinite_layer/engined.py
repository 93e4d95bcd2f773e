"""River learners whose whole state is that of an engine."""

from typing import Self

from river import base

from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.one_at_a_time import OneAtATime
from iln_stream.learners.parameters import parameters_of, state_of_parameters
from iln_stream.state import StateDict, StateSchema

_VERSION = 2
"""Version of the format of an engine's state."""


class Engined(OneAtATime, base.Estimator):
    """A learner that consists of its constructor's parameters and an engine built from them."""

    _engine: Part

    def state(self) -> StateDict:
        """Return the learner's state, as nested dicts of arrays and plain values."""
        with self._turn:
            return self._form().write(
                parameters=state_of_parameters(self), learned=self._engine.state()
            )

    @classmethod
    def from_state(cls, state: StateDict) -> Self:
        """Return a learner that resumes from this state, bit for bit.

        Raises
        ------
        StateError
            When the state is of another class or version.

        """
        parameters, learned = cls._form().read(state, "parameters", "learned")
        model = cls(**parameters_of(parameters, cls))
        model._engine.restore(learned)
        return model

    @classmethod
    def _form(cls) -> StateSchema:
        return StateSchema(cls.__name__, _VERSION)
