"""Learners that consist of an engine and the effects of hashed categories."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from iln_stream.learners.infinite_layer.categories.hashed_categories import (
    Divided,
    EffectsTable,
    HashedCategories,
)
from iln_stream.learners.infinite_layer.engine_learner import EngineLearner
from iln_stream.state import StateDict

if TYPE_CHECKING:
    from iln_stream.learners.infinite_layer.engine.engine import Engine

E = TypeVar("E", bound=EffectsTable)


class HashingLearner(EngineLearner, Generic[E]):
    """A learner whose engine gets the inputs that have columns.

    Categories without a column change the engine's prediction by effects in a bounded table; see
    `categories.routing.Routing`.
    """

    _engine: "Engine"
    _categories: HashedCategories[E]
    _last_look: Any = None

    def _with_hashed(self, x: Mapping[Any, float]) -> Divided | None:
        """Return an event that has hashed categories; None for one that is the engine's alone."""
        place = self._engine.inputs.columns.place
        if self._categories.routing.is_plain(x, place):
            return None
        event = self._categories.divided(x, place)
        return event if event.names else None

    @property
    def n_hashed(self) -> int:
        """Number of inputs of learned events that were hashed, as they got no column."""
        with self._turn:
            return self._categories.n_hashed

    @property
    def n_hashed_names(self) -> float:
        """Estimated number of distinct names that were hashed, within about 3 %."""
        with self._turn:
            return self._categories.distinct.estimate

    @property
    def occupied_cells(self) -> float:
        """Share of the cells for hashed names that are occupied.

        Of a field's names, about this share has a cell in common with another one.
        """
        with self._turn:
            return self._categories.occupied

    def state(self) -> StateDict:
        """Return the learner's state, as nested dicts of arrays and plain values."""
        with self._turn:
            return self._write_state(
                learned=self._engine.state(), categories=self._categories.state()
            )

    def restore(self, state: StateDict) -> None:
        """Go on from a state; see `RestorableLearner.restore`."""
        learned, categories = self._read_state(state, "learned", "categories")
        with self._turn:
            new = self.clone()  # parts are restored when they are new
            new._engine.restore(learned)
            new._categories.restore(categories)
            self._engine, self._categories = new._engine, new._categories
            self._last_look = None


def by_field(shares: Mapping[Any, float], effects: Mapping[str, float]) -> dict[Any, float]:
    """Return shares of inputs, and of fields whose categories are hashed, that sum to one.

    Parameters
    ----------
    shares
        Of the engine's inputs; a `column_of` a field counts as the field.
    effects
        By field: the share of its effects in all that varies.

    """
    rest = 1.0 - sum(effects.values())
    found: dict[Any, float] = {}
    for name, share in shares.items():
        name = name[0] if isinstance(name, tuple) and name[1:] == _COLUMN else name
        found[name] = found.get(name, 0.0) + rest * share
    for field, share in effects.items():
        found[field] = found.get(field, 0.0) + share
    return found


_COLUMN = ("effect",)


def column_of(field: str) -> tuple[str, str]:
    """Return the name of the column of a field's effect."""
    return (field, *_COLUMN)
