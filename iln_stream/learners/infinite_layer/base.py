"""What the infinite-layer learners share: tables, states, explanations and hashed categories."""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import IlnWarning
from iln_stream.learners.checks import not_a_mapping
from iln_stream.learners.explaining import Explanation, explain_one, mean_contributions
from iln_stream.learners.infinite_layer.hashed_categories import (
    EffectsTable,
    HashedCategories,
    SplitInputs,
    field_of,
)
from iln_stream.learners.restoring import RestorableLearner
from iln_stream.learners.tables import Rows, TableEvents
from iln_stream.reporting import FlagSpec, Report
from iln_stream.state import StateDict, decode_name, encode_name

if TYPE_CHECKING:
    from iln_stream.learners.infinite_layer.accurate import AccurateEngine
    from iln_stream.learners.infinite_layer.classes import ClassificationEngine
    from iln_stream.learners.infinite_layer.fast import FastEngine
    from iln_stream.learners.infinite_layer.single_ridge import SingleRidgeEngine


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
    _engine: "AccurateEngine | FastEngine | ClassificationEngine | SingleRidgeEngine"

    def state(self) -> StateDict:
        """Return the learner's state, as nested dicts of arrays and plain values."""
        with self._turn:
            return self._write_state(learned=self._engine.state())

    def restore(self, state: StateDict) -> None:
        (learned,) = self._read_state(state, "learned")
        with self._turn:
            engine = self.clone()._engine  # parts are restored when they are new
            engine.restore(learned)
            self._engine = engine

    @property
    def n_overflowed(self) -> int:
        """Number of inputs of learned events that got no column."""
        with self._turn:
            return self._engine.n_overflowed

    @property
    def resets(self) -> dict[str, int]:
        """How often each part was reinitialised, as it was not finite, or out of all bounds."""
        with self._turn:
            return dict(self._engine.resets)

    @property
    def inputs(self) -> list[Any]:
        """Names of the inputs of learned events, those along which the function is steep first."""
        slopes = self._slopes()
        return sorted(slopes, key=lambda name: -slopes[name])

    def _slopes(self) -> dict[Any, float]:
        with self._turn:
            return self._engine.relevance()

    @property
    def relevance(self) -> dict[Any, float]:
        """Share of each input in how far it moves predictions; they sum to one.

        The mean absolute contribution to the prediction, as of `explain_one`, of remembered events
        compared with each other: see `mean_contributions`. Empty before there are two that differ.
        """
        from iln_stream.learners.infinite_layer.background import remembered

        with self._turn:
            events = remembered(self._engine, BACKGROUND, effects=True)
        return mean_contributions(self, events)

    @property
    def flags(self) -> tuple[FlagSpec, ...]:
        """Flags that an event may raise; see `iln_stream.reporting`."""
        return ()

    def report(self, y_pred: Any, y: Any) -> Report:
        """Report no loss and no flags: the task's loss is used."""
        return None, ()


BACKGROUND = 32
"""Number of events that a prediction is compared with."""

BEGINNING = 128
"""Events that are remembered at the beginning, so that the engine can begin anew."""

ROWS = 1024
"""Rows of a table for which the learner's lock is held: a few milliseconds with profile fast."""

E = TypeVar("E", bound=EffectsTable)


class InfiniteLayerLearner(EngineLearner, Generic[E]):
    """An `EngineLearner` of events and tables, which explains its predictions.

    The engine gets the inputs that have columns. Categories without a column change the engine's
    prediction by effects in a bounded table; see `hashed_categories.Routing`. A table is learned in
    a compiled loop if the engine has one and no input is a category.
    """

    _engine: "AccurateEngine | FastEngine | ClassificationEngine"
    _categories: HashedCategories[E]
    _last_look: Any = None
    _key: NDArray[np.uint64]
    _beginning: list[tuple[Mapping[Any, float], Any, float]] | None
    """The first events and their weights, up to `BEGINNING`, if the very first had a category; or
    None."""

    @abstractmethod
    def _new_engine(self) -> Any:
        """Return an engine of `_key` that has learned nothing."""

    @abstractmethod
    def learn_one(self, x: Mapping[Any, float], y: Any, w: float = 1.0) -> None:
        """Learn that y is the label of x, with weight w."""

    @abstractmethod
    def _learn_hashed(
        self, event: SplitInputs, x: Mapping[Any, float], y: Any, w: float, seen: Any = None
    ) -> None:
        """Learn an event with hashed categories and weight w, x before it was divided.

        `seen` is what the engine and the effects predicted, if other labels came since.
        """

    def _learn_event_late(self, x: Mapping[Any, float], token: Any, y: Any, w: float) -> None:
        """Learn that y, valid for the engine, is the label of x, by the token of its prediction."""
        with self._turn:
            seen = self._engine.tokens.read(token)
            # If nothing was learned since, what was seen can be computed again.
            self._learn_event(x, y, w, None if seen.n == self._engine.n else seen)

    def _learn_event(self, x: Mapping[Any, float], y: Any, w: float, seen: Any = None) -> None:
        """Learn that y, valid for the engine, is the label of x, predicted by what was `seen`.

        The event's weight is w.
        """
        with self._turn:
            networks = self._engine.networks
            if networks is not None and not networks.ring.is_whole:
                raise TypeError(
                    "this model only predicts: the past events that it would replay to learn were "
                    "left out; learn with a model from a snapshot (iln_stream.load)"
                )
            event = self._with_hashed(x, self._last_look)
            if event is None:
                self._last_look = None
                if seen is None:
                    self._engine.learn(x, y, w)
                else:
                    self._engine.learn_late(x, seen, y, w)
            else:
                self._learn_hashed(event, x, y, w, seen)
            if self._beginning is not None:
                self._remember(x, y, w)

    def _with_hashed(self, x: Mapping[Any, float], last: Any = None) -> SplitInputs | None:
        """Return an event that has hashed categories; None for one that is the engine's alone.

        `last` is `_last_look`, whose event may be the same.
        """
        place = self._engine.inputs.columns.place
        try:
            if place is self._categories.routing.plain and len(x) == len(place):
                return None
        except TypeError:
            raise not_a_mapping(x) from None
        # Of equal numbers, only zeros may have other bits: a sign.
        if last and x.__class__ is dict and x == last[0].whole and 0.0 not in x.values():
            return last[0]  # type: ignore[no-any-return]
        event = self._categories.routing.split(x, place)
        return event if event.names else None

    def _admit(self, event: SplitInputs, x: Mapping[Any, float]) -> tuple[SplitInputs, E]:
        """Return the event to learn, which has hashed categories, and the effects.

        If a field is hashed as a whole now and all events are remembered, the engine begins anew
        without the columns of its categories, which would cost time for nothing.
        """
        routing, self._last_look = self._categories.routing, None
        new = [name for name in event.names if name.field not in routing.fields]
        if new and routing.admit(new, self.n_learned):
            if self._beginning:
                self._begin_anew(self._beginning)
            event = self._categories.routing.split(x, self._engine.inputs.columns.place)
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

    def _predicted_rows(
        self, frame: TableEvents, predict_one: Callable[[dict[Any, float]], Any]
    ) -> Iterator[Rows]:
        """Yield the predictions for the rows of a table, many at a time."""
        compiled = self._is_compiled(frame)
        for start in range(0, len(frame), ROWS):
            stop = min(start + ROWS, len(frame))
            with self._turn:
                predictions = (
                    self._engine.predict_rows(frame, start, stop)  # type: ignore[union-attr]
                    if compiled
                    else [predict_one(x) for x in frame.rows(start, stop)]
                )
            yield predictions

    def _learn_rows(self, frame: TableEvents, y: Rows, w: NDArray[np.float64]) -> None:
        """Learn the rows of a table, whose labels are y and weights w, in their order."""
        frame.warn()
        compiled, start = self._is_compiled(frame), 0
        while start < len(frame):
            with self._turn:
                in_loop = compiled and self._beginning is None
                stop = min(start + (ROWS if in_loop or not compiled else 1), len(frame))
                if in_loop:
                    self._engine.learn_rows(frame, y, w, start, stop)  # type: ignore[union-attr]
                    self._last_look = None
                else:
                    part = y[start:stop]
                    listed = part.tolist() if isinstance(part, np.ndarray) else part
                    rows, weights = frame.rows(start, stop), w[start:stop].tolist()
                    for x, label, weight in zip(rows, listed, weights, strict=True):
                        self.learn_one(x, label, weight)
            start = stop

    def _is_compiled(self, frame: TableEvents) -> bool:
        if not hasattr(self._engine, "learn_rows"):
            return False
        return all(field_of(name, 1.0) is None for name in frame.names)

    def background(self, n: int = BACKGROUND) -> list[dict[Any, float]]:
        """Return the inputs of n remembered events: see `iln_stream.learners.background_of`."""
        return background_of(self, n)

    def _explanation(
        self,
        x: Mapping[Any, float],
        background: Iterable[Mapping[Any, float]] | None,
        label: Any = None,
    ) -> Explanation:
        with self._turn:  # all predictions are of one state
            if background is None:
                background = self.background() or [dict(x)]
            return explain_one(self, x, background, label=label)

    @property
    def n_learned(self) -> int:
        """Number of events learned."""
        with self._turn:
            return self._engine.n

    @property
    def expert_weights(self) -> dict[str, float]:
        """Weight of each expert in the prediction, by name; they sum to one.

        A classifier's `correction` counts as an expert.
        """
        with self._turn:
            return self._engine.expert_weights()

    @property
    def n_reset(self) -> int:
        """How often a part was reinitialised because it was not finite, or out of all bounds."""
        return sum(self.resets.values())

    @property
    def resets(self) -> dict[str, int]:
        """`n_reset` by part."""
        with self._turn:
            n_reset = self._categories.n_reset
            return self._engine.resets | ({"hashed-categories": n_reset} if n_reset else {})

    @property
    def relevance(self) -> dict[Any, float]:
        """Share of each input in how far it moves predictions; they sum to one.

        It is the mean absolute contribution of the input, as `explain_one` returns it, in
        remembered events that are compared with each other. The last targets, which some experts
        also use, are left out. Hashed categories of a field have the share of their effects in
        the variance of predictions. Empty before there are two events that differ.
        """
        return self._with_effects(super().relevance)

    def _slopes(self) -> dict[Any, float]:
        return self._with_effects(super()._slopes())

    def _with_effects(self, shares: dict[Any, float]) -> dict[Any, float]:
        with self._turn:
            effects = self._categories.effects
            return shares if effects is None else by_field(shares, effects.shares())

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

    Of the engine's inputs, a `column_of` a field counts as the field. `effects` has, by field, the
    share of its effects in all that varies.
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


def background_of(learner: EngineLearner, n: int = BACKGROUND) -> list[dict[Any, float]]:
    """Return the inputs of n events that a learner remembers, at random; of all if these are fewer.

    The memory holds the last 2,048 events, or 4,096 with profile "fast", of which only those since
    the last change of the target's level or scale count. A `RandomFeatureRidge` whose units are
    not redrawn remembers one. The sample is a function of the number of events, and successive
    samples have most events in common.

    Parameters
    ----------
    learner
        An `InfiniteLayerRegressor`, `InfiniteLayerClassifier` or `RandomFeatureRidge`.
    n
        Number of events.

    Raises
    ------
    ValueError
        When n is less than 1.

    Examples
    --------
    >>> from iln_stream import RandomFeatureRidge
    >>> from iln_stream.explaining import explain_one
    >>> from iln_stream.learners import background_of
    >>> model = RandomFeatureRidge(seed=1)
    >>> for a in range(3):
    ...     model.learn_one({"a": a, "b": 1}, 2.0 * a)
    >>> background_of(model)
    [{'a': 0.0, 'b': 1.0}, {'a': 1.0, 'b': 1.0}, {'a': 2.0, 'b': 1.0}]
    >>> explain_one(model, {"a": 2, "b": 1}, background_of(model)).contributions["b"]
    0.0

    """
    if n < 1:
        raise ValueError(f"n = {n} must be at least 1 event")
    with learner._turn:
        # Imported here, so that `import iln_stream` does not wait for numba.
        from iln_stream.learners.infinite_layer.background import remembered

        return remembered(learner._engine, n)
