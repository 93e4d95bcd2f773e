"""River learners whose whole state is that of an engine."""

from typing import Self

from river import base

from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.one_at_a_time import OneAtATime
from iln_stream.learners.parameters import parameters_of, state_of_parameters
from iln_stream.state import Form, Tree

_VERSION = 2
"""Of what an engine's state consists of."""


class Engined(OneAtATime, base.Estimator):
    """A learner that is its constructor's parameters and an engine made of them."""

    _engine: Part

    def state(self) -> Tree:
        """Return all that was learned, as nested dicts of arrays and plain values."""
        with self._turn:
            return self._form().write(
                parameters=state_of_parameters(self), learned=self._engine.state()
            )

    @classmethod
    def from_state(cls, state: Tree) -> Self:
        """Return a learner that goes on, bit for bit, where the one with this state stood.

        Raises
        ------
        StateError
            When the state is another class's or version's.

        """
        parameters, learned = cls._form().read(state, "parameters", "learned")
        model = cls(**parameters_of(parameters, cls))
        model._engine.restore(learned)
        return model

    @classmethod
    def _form(cls) -> Form:
        return Form(cls.__name__, _VERSION)
