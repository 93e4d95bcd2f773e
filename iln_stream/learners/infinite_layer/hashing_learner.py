"""Learners that consist of an engine and the effects of hashed categories."""

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.categories.hashed_categories import (
    Divided,
    EffectsTable,
    HashedCategories,
)
from iln_stream.learners.infinite_layer.categories.hashed_name import field_of
from iln_stream.learners.infinite_layer.engine_learner import EngineLearner
from iln_stream.state import StateDict, decode_name, encode_name

BEGINNING = 128
"""Events that are remembered at the beginning, so that the engine can begin anew."""

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
    _key: NDArray[np.uint64]
    _beginning: list[tuple[Mapping[Any, float], Any, float]] | None
    """The first events and their weights, up to `BEGINNING`, if the very first had a category; or
    None."""

    @abstractmethod
    def _new_engine(self) -> Any:
        """Return an engine of `_key` that has learned nothing."""

    @property
    @abstractmethod
    def n_learned(self) -> int:
        """Number of events learned."""

    @abstractmethod
    def learn_one(self, x: Mapping[Any, float], y: Any, w: float = 1.0) -> None:
        """Learn that y is the label of x, with weight w."""

    @abstractmethod
    def _learn_hashed(
        self, event: Divided, x: Mapping[Any, float], y: Any, w: float, seen: Any = None
    ) -> None:
        """Learn an event with hashed categories and weight w, x before it was divided.

        `seen` is what the engine and the effects predicted, if other labels came since.
        """

    def _learn_event_late(self, x: Mapping[Any, float], token: Any, y: Any, w: float) -> None:
        """Learn that y, valid for the engine, is the label of x, by the token of its prediction."""
        with self._turn:
            engine: Any = self._engine
            seen = engine.tokens.read(token)
            # If nothing was learned since, what was seen can be computed again.
            self._learn_event(x, y, w, None if seen.n == engine.n else seen)

    def _learn_event(self, x: Mapping[Any, float], y: Any, w: float, seen: Any = None) -> None:
        """Learn that y, valid for the engine, is the label of x, predicted by what was `seen`.

        The event's weight is w.
        """
        with self._turn:
            event = self._with_hashed(x)
            if event is None:
                engine: Any = self._engine
                if seen is None:
                    engine.learn(x, y, w)
                else:
                    engine.learn_late(x, seen, y, w)
            else:
                self._learn_hashed(event, x, y, w, seen)
            self._last_look = None
            if self._beginning is not None:
                self._remember(x, y, w)

    def _with_hashed(self, x: Mapping[Any, float]) -> Divided | None:
        """Return an event that has hashed categories; None for one that is the engine's alone."""
        place = self._engine.inputs.columns.place
        if self._categories.routing.is_plain(x, place):
            return None
        event = self._categories.divided(x, place)
        return event if event.names else None

    def _admit(self, event: Divided, x: Mapping[Any, float]) -> tuple[Divided, E]:
        """Return the event to learn, which has hashed categories, and the effects.

        If a field is hashed as a whole now and all events are remembered, the engine begins anew
        without the columns of its categories, which would cost time for nothing.
        """
        if self._categories.routing.admit(event.names, self.n_learned):
            if self._beginning:
                self._begin_anew(self._beginning)
            event = self._categories.divided(x, self._engine.inputs.columns.place)
        return event, self._categories.admit(event)

    def _begin_anew(self, events: list[tuple[Mapping[Any, float], Any, float]]) -> None:
        new = self.clone()
        new._key, new._beginning = self._key, None
        new._engine = new._new_engine()
        new._categories.routing.fields = list(self._categories.routing.fields)
        new._categories.routing.whole = list(self._categories.routing.whole)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IlnWarning)  # they came when it learned these events
            for x, y, w in events:
                new.learn_one(x, y, w)
        self._engine, self._categories = new._engine, new._categories

    def _remember(self, x: Mapping[Any, float], y: Any, w: float) -> None:
        """Keep an event of the beginning."""
        events = self._beginning
        assert events is not None
        has_category = any(field_of(name, value) is not None for name, value in x.items())
        if len(events) == BEGINNING or not (events or has_category):
            self._beginning = None
        else:
            events.append((dict(x), y, w))

    def _with_effects(self, resets: Mapping[str, int]) -> dict[str, int]:
        """Return how often each part of the engine, and the effects, were reinitialised."""
        n_reset = self._categories.n_reset
        return {**resets, "hashed-categories": n_reset} if n_reset else dict(resets)

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
                learned=self._engine.state(),
                categories=self._categories.state(),
                beginning=None if self._beginning is None else self._beginning_state(),
            )

    def _beginning_state(self) -> StateDict:
        events = self._beginning or []
        weights = [w for _, _, w in events]
        state = {
            "key": self._key.copy(),
            "names": [[encode_name(name) for name in x] for x, _, _ in events],
            "values": [np.array([*map(float, x.values())]) for x, _, _ in events],
            "labels": [encode_name(y) for _, y, _ in events],
        }
        return state if all(w == 1.0 for w in weights) else state | {"weights": weights}

    def restore(self, state: StateDict) -> None:
        """Go on from a state; see `RestorableLearner.restore`."""
        learned, categories, beginning = self._read_state(
            state, "learned", "categories", "beginning"
        )
        with self._turn:
            new = self.clone()  # parts are restored when they are new
            new._engine.restore(learned)
            new._categories.restore(categories)
            self._engine, self._categories = new._engine, new._categories
            self._last_look = None
            self._beginning = None
            if beginning is not None:
                self._key = beginning["key"].copy()
                self._beginning = list(_events_of(beginning))


def _events_of(state: StateDict) -> Iterator[tuple[Mapping[Any, float], Any, float]]:
    """Yield the events of a beginning's state, with their weights."""
    fields = state["names"], state["values"], state["labels"]
    weights = state.get("weights") or [1.0] * len(state["labels"])
    for names, values, label, w in zip(*fields, weights, strict=True):
        x = dict(zip(map(decode_name, names), values.tolist(), strict=True))
        yield x, decode_name(label), w


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
        name = name[0] if is_effect(name) else name
        found[name] = found.get(name, 0.0) + rest * share
    for field, share in effects.items():
        found[field] = found.get(field, 0.0) + share
    return found


_COLUMN = ("effect",)


def column_of(field: str) -> tuple[str, str]:
    """Return the name of the column of a field's effect."""
    return (field, *_COLUMN)


def is_effect(name: object) -> bool:
    """Return whether a column is that of a field's effect."""
    return isinstance(name, tuple) and name[1:] == _COLUMN
