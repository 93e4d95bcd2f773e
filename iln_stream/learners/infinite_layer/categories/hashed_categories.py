"""The hashed categories of a learner."""

import warnings
from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.categories.distinct_names import DistinctNames
from iln_stream.learners.infinite_layer.categories.hashed_name import HashedName
from iln_stream.learners.infinite_layer.categories.routing import Routing
from iln_stream.learners.infinite_layer.part import require_fields
from iln_stream.state import StateDict


class EffectsTable(Protocol):
    """What hashed categories change in predictions."""

    @property
    def occupied(self) -> float:
        """Share of cells that have learned."""
        ...

    def is_sound(self) -> bool:
        """Return whether all numbers are finite."""
        ...

    def state(self) -> dict[str, Any]:
        """Return the state."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        ...


E = TypeVar("E", bound=EffectsTable)

INSPECT_EVERY = 1_024
"""Hashed inputs from one inspection of the effects to the next."""


class Divided(NamedTuple):
    """An event's inputs for the engine, and its hashed categories."""

    x: Mapping[Any, float]
    names: list[HashedName]


class HashedCategories(Generic[E]):
    """Divides events between an engine and the effects of hashed categories.

    Parameters
    ----------
    max_columns
        The most names that get a column.
    make
        Makes the effects, once a category is hashed.

    """

    def __init__(self, max_columns: int, make: type[E]) -> None:
        self.routing = Routing(max_columns)
        self.distinct = DistinctNames()
        self.n_hashed = 0
        self.n_reset = 0
        """How often the effects began anew, as a number of them was not finite."""
        self.effects: E | None = None
        self._make = make

    def divided(self, x: Mapping[Any, float], place: Mapping[Any, int]) -> Divided:
        """Return an event, divided; nothing changes."""
        return Divided(*self.routing.split(x, place))

    def admit(self, event: Divided) -> E:
        """Count the hashed categories of an event to learn, and return the effects."""
        before, self.n_hashed = self.n_hashed, self.n_hashed + len(event.names)
        if self.effects is None:
            self.effects = self._make()
        due = before // INSPECT_EVERY < self.n_hashed // INSPECT_EVERY
        if due and not self.effects.is_sound():
            self.begin_anew()
        for name in event.names:
            self.distinct.add(name)
        return self.effects

    def begin_anew(self) -> E:
        """Return new effects, in place of those that are not finite."""
        self.effects = self._make()
        self.n_reset += 1
        warnings.warn(
            f"the effects of hashed categories were not finite after {self.n_hashed} of them: they "
            "begin anew; look for extreme targets at that time, and report it",
            IlnWarning,
            stacklevel=2,
        )
        return self.effects

    @property
    def occupied(self) -> float:
        """Share of cells that have learned."""
        return 0.0 if self.effects is None else self.effects.occupied

    def state(self) -> StateDict | None:
        """Return the state; None if no category was hashed."""
        if self.effects is None:
            return None
        return {
            "fields": list(self.routing.fields),
            "whole": list(self.routing.whole),
            "n_hashed": self.n_hashed,
            "n_reset": self.n_reset,
            "registers": self.distinct.registers.copy(),
            "effects": self.effects.state(),
        }

    def restore(self, state: StateDict | None) -> None:
        """Resume from a state that `state` returned; this object must be new."""
        if state is None:
            return
        fields = ("fields", "whole", "n_hashed", "n_reset", "registers", "effects")
        require_fields(type(self).__name__, state, fields)
        self.routing.fields = list(state["fields"])
        self.routing.whole = list(state["whole"])
        self.n_hashed = state["n_hashed"]
        self.n_reset = state["n_reset"]
        self.distinct.registers = state["registers"].copy()
        self.effects = self._make()
        self.effects.restore(state["effects"])
