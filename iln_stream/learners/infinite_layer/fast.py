"""Profile fast of `InfiniteLayerRegressor`: a ridge and four others in two compiled calls."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from iln_stream.features.base import LARGEST_INPUT
from iln_stream.kernels.activations import TURNS
from iln_stream.kernels.columns import ABSENT, CHANGED_AT, HIGH, LOW, MEAN, UPPER, no_statistics
from iln_stream.kernels.fast import (
    BLOCK,
    DRIFT,
    ENDS,
    EVENT_WEIGHT,
    EVENTS,
    HUBER_RECORD,
    INPUTS,
    KEPT,
    LAGS,
    LATE,
    LENGTH,
    N_FAST_LAGS,
    PREDICTIONS,
    PUBLISHED,
    RIDGE,
    SCORED,
    STEPS,
    STRETCHES,
    UNSOUND,
    Parts,
    forecasts_address,
    learn_event,
    learn_rows,
    predict_event,
    predict_rows,
)
from iln_stream.kernels.jit import address_of
from iln_stream.kernels.mixing import WEIGHT, mixed
from iln_stream.kernels.moving_units import AVERAGE, WEIGHTS
from iln_stream.kernels.plain_forecasts import N_FORECASTS
from iln_stream.kernels.regression_event import FENCE, WIDTH, center_and_unit, join_target, scaled
from iln_stream.kernels.ridges import LINEAR_SCALE
from iln_stream.learners.infinite_layer.engine import LateEngine
from iln_stream.learners.infinite_layer.expert import Vector
from iln_stream.learners.infinite_layer.experts.rls_bank import WeightDistribution
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.intervals import Intervals
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Healer, Part
from iln_stream.learners.infinite_layer.plain_forecasts import NAMES, PlainForecasts
from iln_stream.learners.infinite_layer.target import signal
from iln_stream.learners.infinite_layer.tokens import PredictedWith, TokenFormat
from iln_stream.learners.preprocessing.moments import LARGEST_VALUE
from iln_stream.learners.tables import Rows, TableEvents

REFITTED = 512
"""Events of the memory that a broken ridge is fitted to: at 10 inputs this takes 1 ms."""


class Arrays(Protocol):
    """What parts need of `FastEngine`, which keeps and saves the arrays."""

    inputs: Inputs
    target: Vector
    record: Vector
    table: Vector
    units: NDArray[Any]
    theta: Vector
    P: Vector
    mean_squares: Vector
    memory: Vector
    past: "FastMemory"

    @property
    def n(self) -> int:
        """Events learned."""

    def begin_rule(self) -> None:
        """Let the experts weigh the same."""

    def draw_units(self) -> None:
        """Draw the units anew."""


class FastPart(Part):
    """Some of the engine's arrays."""

    def __init__(self, engine: Arrays) -> None:
        self.engine = engine


class Count(FastPart):
    """The number of events learned, which other parts count as well."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the number, as an array."""
        yield "events", self.engine.record[EVENTS : EVENTS + 1]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Take the number from the part that has counted most events."""
        self.engine.record[EVENTS] = self.engine.n


class FastMemory(FastPart):
    """The last events, as rows [last targets, raw row, target], and weight once one is not 1."""

    @property
    def target(self) -> int:
        """The targets' column."""
        return len(self.engine.mean_squares)

    @property
    def columns(self) -> Vector:
        """The raw rows (d, N)."""
        return self.engine.memory[:, N_FAST_LAGS : self.target].T

    @property
    def y(self) -> Vector:
        """The targets, (N,)."""
        return self.engine.memory[:, self.target]

    @property
    def n_of_level(self) -> int:
        """Number of the last events that are of the target's present level."""
        return int(self.engine.record[KEPT])

    @property
    def filled(self) -> int:
        """Number of events that it has."""
        return min(self.engine.n, len(self.y))

    def last(self, size: int) -> Vector:
        """Return at most so many of the last events, the newest last."""
        n = self.engine.n
        slots = np.arange(n - min(size, self.filled), n) % len(self.y)
        return self.engine.memory[slots]

    def numbered(self) -> Iterable[tuple[int, int]]:
        """Return number, from 1, and slot of the events kept, the oldest first."""
        n = self.engine.n
        return ((i + 1, i % len(self.y)) for i in range(n - self.filled, n))

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the memory, and how many of its events are of the target's present level."""
        yield "memory", self.engine.memory
        yield "kept", self.engine.record[KEPT:]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Make broken inputs absent, broken targets the median of the others, and weights 1.

        Units learn from events after the last broken target only, as from those after a change.
        """
        engine, n = self.engine, self.engine.n
        memory, record = engine.memory, engine.record
        inputs, weights = memory[:, N_FAST_LAGS : self.target], memory[:, self.target + 1 :]
        targets = memory[:, [*range(N_FAST_LAGS), self.target]]
        weights[~np.isfinite(weights)] = 1.0
        inputs[~np.isfinite(inputs)] = ABSENT
        last = self.last(len(memory))[:, self.target]
        known = np.isfinite(last)
        targets[~np.isfinite(targets)] = np.median(last[known]) if known.any() else 0.0
        memory[:, [*range(N_FAST_LAGS), self.target]] = targets
        if "kept" in broken:
            changed_at = engine.target[CHANGED_AT, 0]
            record[KEPT] = n - changed_at if 0.0 <= changed_at < n else n
        sound = len(last) if known.all() else np.argmin(known[::-1])
        record[KEPT] = min(record[KEPT], sound)


class TargetStatistics(FastPart):
    """The target's scale."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the statistics."""
        yield "target", self.engine.target

    def reinitialise(self, broken: Collection[str]) -> None:
        """Compute the statistics anew from the memory's targets."""
        memory, target = self.engine.past, self.engine.target
        target[:] = no_statistics(1)
        for n, i in memory.numbered():
            join_target(memory.y[i], target, n)


class FastLastTargets(FastPart):
    """The last targets."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the targets, the newest first."""
        yield "lags", self.engine.record[LAGS:HUBER_RECORD]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Take them from the memory."""
        last = self.engine.past.last(N_FAST_LAGS)[::-1, self.engine.past.target]
        self.engine.record[LAGS:HUBER_RECORD] = 0.0
        self.engine.record[LAGS : LAGS + len(last)] = last


class DriftMeans(FastPart):
    """The means of |error| that tell drift."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield their record."""
        yield "drift", self.engine.record[DRIFT:LAGS]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Begin the means anew."""
        self.engine.record[DRIFT:LAGS] = 0.0


class Rule(FastPart):
    """The rule that weighs the experts."""

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the regrets and weights, and the size of an ordinary error."""
        yield "table", self.engine.table
        yield "record", self.engine.record[EVENTS + 1 : DRIFT]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget all regrets: the experts weigh the same."""
        self.engine.begin_rule()


class Ridge(FastPart):
    """The ridge and its units."""

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield units, weights, covariance, mean squares of gradients, and two records."""
        engine = self.engine
        yield "units", engine.units
        yield "theta", engine.theta
        yield "P", engine.P
        yield "mean_squares", engine.mean_squares
        yield "errors", engine.record[HUBER_RECORD:STEPS]
        yield "steps", engine.record[STEPS:KEPT]

    def reinitialise(self, broken: Collection[str]) -> None:
        """Draw broken units anew; fit the ridge to the units on the last events.

        Relevance begins anew if it is broken.
        """
        engine = self.engine
        if {"units", "steps"} & set(broken):
            engine.draw_units()
        if {"units", "steps", "theta", "P"} & set(broken):
            self._fit()
        if "mean_squares" in broken:
            engine.mean_squares[:] = 1.0
        engine.record[HUBER_RECORD:STEPS] = 0.0

    def _fit(self) -> None:
        engine = self.engine
        events = engine.past.last(min(REFITTED, int(engine.record[KEPT])))
        L, R = engine.units.shape[1] - 1, engine.units.shape[2]
        center, unit = center_and_unit(engine.target)
        targets = np.clip((events - center) / unit, -FENCE, FENCE)
        v = WIDTH * targets[:, :L]
        sd, inputs = engine.inputs.sd, events[:, N_FAST_LAGS:L]
        known = (inputs < ABSENT) & (sd > 0.0)
        deviations = (inputs - engine.inputs.stats[MEAN]) / np.where(sd > 0.0, sd, 1.0)
        v[:, N_FAST_LAGS:] = np.where(known, np.clip(deviations, -5.0, 5.0), 0.0)
        units = engine.units[AVERAGE].astype(float)
        phi = np.zeros((len(events), len(engine.theta)))
        phi[:, :R] = 3.0 * np.sqrt(2.0 / R) * np.cos((v @ units[:L] + units[L]) / TURNS)
        phi[:, R] = 1.0
        phi[:, R + 1 : R + 1 + L] = LINEAR_SCALE * v
        rows = phi if events.shape[1] == L + 1 else phi * events[:, L + 1 :]
        gram = phi.T @ rows + RIDGE * np.eye(len(engine.theta))
        engine.theta[:] = np.linalg.solve(gram, rows.T @ targets[:, L])
        for u, block in enumerate(engine.P):
            own = slice(u * BLOCK, (u + 1) * BLOCK)
            inverse = np.linalg.inv(gram[own, own])
            block[:] = (inverse + inverse.T) / 2.0


N_UNITS = 64
MEMORY = 4096
PRIOR = WeightDistribution("cos", 1.0, sparse=True)
EXPERTS = ("ridge", "running-mean", "persistence", "stretched-2", "stretched-4")


def _blocks(d: int) -> int:
    """Return the number of blocks for the features: the units, 1, and d lags and inputs."""
    return -(-(N_UNITS + 1 + d) // BLOCK)


class FastEngine(LateEngine):
    """A ridge on 64 cosines in blocks of 16, the running mean and the last target, mixed.

    The ridge and its units learn at the same time: recursive least squares fit its weights to the
    units, and gradients, on the newest event and on past ones, move the units. `key`, two words,
    seeds all randomness. If `squared`, the rule minimises squared errors, and so predicts the mean.
    """

    first_order = None

    kept = (
        "key", "target", "record", "table", "units", "theta", "P", "mean_squares", "memory",
        "drawn_at",
    )  # fmt: skip
    parts = ("inputs", "intervals", "plain", "healer")
    fixed = ("key", "target", "record", "table")

    def __init__(self, max_columns: int, key: NDArray[np.uint64], *, squared: bool = False) -> None:
        self.past = FastMemory(self)
        super().__init__(Inputs(max_columns, cast(Memory, self.past)), N_FAST_LAGS, squared=squared)
        self.key = key
        self.target = no_statistics(1)
        # The records of the mixture, of drift and of the ridge; the last two targets; counts.
        self.record = np.zeros(LENGTH)
        self.table = np.zeros((4, len(EXPERTS)))
        self.begin_rule()
        self.memory = np.zeros((MEMORY, N_FAST_LAGS + 1))  # the last targets, raw row, target
        self.intervals, self.plain = Intervals(), PlainForecasts()
        self.healer = Healer(
            {
                "count": Count(self),
                "memory": self.past,
                "target": TargetStatistics(self),
                "inputs": self.inputs,
                "last-targets": FastLastTargets(self),
                "drift": DriftMeans(self),
                "intervals": self.intervals,
                "mixture-rule": Rule(self),
                "ridge": Ridge(self),
                "plain-forecasts": self.plain,
            }
        )
        self.tokens = TokenFormat(
            (type(self).__name__, *EXPERTS, *NAMES), N_FAST_LAGS, 0, len(EXPERTS) + N_FORECASTS,
            intervals=True,
        )  # fmt: skip
        self._begin(N_FAST_LAGS)
        self._gather()

    def begin_rule(self) -> None:
        self.table[:] = 0.0
        self.table[WEIGHT] = 1.0 / len(EXPERTS)
        self.record[EVENTS + 1 : DRIFT] = 0.0

    def draw_units(self) -> None:
        d = self.units.shape[1] - 1
        self.drawn_at = self.n
        counter = np.array([0, 0, self.n, 0], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=self.key, counter=counter))
        self.units[:] = 0.0
        self.units[[WEIGHTS, AVERAGE]] = np.vstack(PRIOR.draw(N_UNITS, np.eye(d), N_FAST_LAGS, rng))
        self.record[STEPS] = 0.0

    def _begin(self, d: int) -> None:
        """Draw units for d lags and inputs, and let the ridge on them begin."""
        self.units = np.zeros((4, d + 1, N_UNITS), np.float32)
        self.draw_units()
        n_blocks = _blocks(d)
        self.theta = np.zeros(n_blocks * BLOCK)
        self.P = np.tile(np.eye(BLOCK) / RIDGE, (n_blocks, 1, 1))
        self.mean_squares = np.ones(d)  # of the gradient along each lag and input
        self.record[HUBER_RECORD:KEPT] = 0.0

    @property
    def resets(self) -> dict[str, int]:
        """How often each part was reinitialised."""
        return self.healer.resets

    @property
    def n(self) -> int:
        """Events learned; while their count is broken, the most that another part has counted."""
        n = float(self.record[EVENTS])
        if math.isfinite(n):
            return int(n)
        others = (self.intervals.record[0], self.record[DRIFT], self.drawn_at)
        return int(max(other for other in others if math.isfinite(other)))

    @property
    def unit(self) -> float:
        """The unit of the scale on which targets are learned; 1 while it is not finite."""
        unit = float(center_and_unit(self.target)[1]) if self.n else 1.0
        return unit if math.isfinite(unit) else 1.0

    @property
    def drift(self) -> float:
        """Mean |error| of about the last 50 events over that of about the last 1000."""
        return signal(self.record[DRIFT:LAGS])

    def _gather(self) -> None:
        """Move most arrays into one, which is passed to compiled functions in their stead."""
        intervals = self.intervals
        look = np.zeros((5, len(self.theta)))  # the last prediction and its row
        parts = Parts(
            self.target, self.record, self.table, intervals.errors, intervals.rules,
            intervals.tallies, intervals.record, self.theta, self.P, self.mean_squares, look,
        )  # fmt: skip
        self._array = np.concatenate([part.ravel() for part in parts])
        ends = np.cumsum([part.size for part in parts])
        views: list[Any] = [
            flat.reshape(part.shape)
            for flat, part in zip(np.split(self._array, ends[:-1]), parts, strict=True)
        ]
        (
            self.target, self.record, self.table, intervals.errors, intervals.rules,
            intervals.tallies, intervals.record, self.theta, self.P, self.mean_squares, look,
        ) = views  # fmt: skip
        self._p, self._inputs = look[PREDICTIONS], look[INPUTS]
        self._seed = int(self.key[0] >> np.uint64(1))
        self._row: Vector | None = None  # the last predicted; comparing its bytes would cost more

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copies have their own arrays."""
        self.__dict__.update(state)
        self._gather()

    def predict(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for x."""
        self._row = row = self.inputs.row(x)
        y_pred: float = predict_event(
            row, self.inputs.stats, self._array, self.units, self.plain.array
        )
        return y_pred if self.fresh is None else self._mixed(y_pred)

    def _mixed(self, y_pred: float, delay: int | None = None) -> float:
        """Return the mixture with `FreshTargets` of what was just predicted."""
        assert self.fresh is not None
        center, unit = center_and_unit(self.target)
        value = (y_pred - center) / unit
        scaled_mixture = self.fresh.predict(value, self._described, delay)
        found = y_pred if scaled_mixture == value else float(center + unit * scaled_mixture)
        return found if math.isfinite(found) else y_pred

    @property
    def _described(self) -> Vector:
        """Last targets and deviations of the row last predicted: as `Observation.v`."""
        described: Vector = self._inputs[: len(self.mean_squares)]
        return described

    def predict_token(self, x: Mapping[Any, float]) -> tuple[float, Vector]:
        """Return the prediction for x, and a token with which the target can be learned late."""
        prediction, scale = self.predict(x), center_and_unit(self.target)
        return prediction, self.tokens.written(
            self.n,
            prediction,
            scale,
            self.record[LAGS:HUBER_RECORD],
            np.zeros(0),
            self.intervals.published(prediction),
            self._p[: len(EXPERTS)].tolist() + self.plain.outputs(*scale),
        )

    def frozen(self) -> dict[str, Any]:
        """Return what `FrozenRegressor` predicts by; its arrays may be the engine's own."""
        self.predict({})
        center, unit = map(float, center_and_unit(self.target))
        units, n_inputs = self.units[AVERAGE], len(self.mean_squares)
        low, high = sorted(float(scaled(self.target[end, 0], center, unit)) for end in (LOW, HIGH))
        ridge = {
            "omega": units[:-1],
            "b": units[-1],
            "linear": [1.0] * n_inputs,
            "activation": "cos",
        }
        experts = [
            {"form": "ridge", "units": ridge, "theta": self.theta[: N_UNITS + 1 + n_inputs]},
            {"form": "constant", "value": 0.0},
            {"form": "last-target"},
            *({"form": "stretched", "by": k, "low": low, "high": high} for k in STRETCHES),
        ]
        rule = {"weights": self.table[WEIGHT], "awake": np.ones(len(EXPERTS), bool)}
        return {
            "stats": self.inputs.stats[: UPPER + 1],
            "lags": self._described[:N_FAST_LAGS],
            "center": center,
            "unit": unit,
            "expert": {"form": "mixture", "rule": rule, "experts": experts},
            "plain": self.plain.frozen(center, unit),
        }

    def interval(self, x: Mapping[Any, float], level: float) -> tuple[float, float]:
        """Return the interval for x."""
        return self.intervals.around(self.predict(x), level)

    def learn(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        """Learn that y is the target of x, with weight w."""
        row = self.inputs.admit(x)
        if row is not self._row:
            self._require_prediction(row)
        self._row = None  # the state behind the prediction is about to change
        if self.fresh is None:
            self._learn_row(row, y, w)
            return
        value, v = self.plain.final(*center_and_unit(self.target)), self._described.copy()
        self._learn_row(row, y, w)
        self._learn_fresh(value, y, w, v, v, 0)

    def _learn_row(self, row: Vector, y: float, w: float) -> None:
        """Learn the target of the row last predicted, with weight w."""
        if w != 1.0:
            self._weigh(w)
        fault = learn_event(
            row,
            y,
            self.inputs.stats,
            self._array,
            self.units,
            self.plain.array,
            self.memory,
            self._seed,
            self._squared,
            forecasts_address(),
        )
        if fault:
            self._heal(row, y, w, fault)

    def _weigh(self, w: float) -> None:
        """Let the event last predicted count w; the memory gets room for weights."""
        self._make_room_for_weights()
        self._p[EVENT_WEIGHT] = w

    def _make_room_for_weights(self) -> None:
        if self.memory.shape[1] == len(self.mean_squares) + 1:
            self.memory = np.column_stack([self.memory, np.ones(len(self.memory))])

    def _learn_fresh(
        self, value: float | None, y: float, w: float, seen: Vector, known: Vector, delay: int
    ) -> None:
        """Let `FreshTargets` learn the target: see there."""
        t = scaled(y, *center_and_unit(self.target))
        self._teach_fresh(value, t, w, seen, known, delay)

    def learn_late(
        self, x: Mapping[Any, float], seen: PredictedWith, y: float, w: float = 1.0
    ) -> float:
        """Learn that y is the target of x, which was predicted when things were as `seen`.

        See `RegressionEngine.learn_late`.
        """
        self._require_fresh(self.n - seen.n)
        row = self.inputs.admit(x)
        self._row = None
        self._make_room(row)
        lags = self.record[LAGS:HUBER_RECORD]
        center, unit = center_and_unit(self.target)
        known, delay, value = lags.copy(), max(self.n - seen.n, 0), None
        lags[:] = seen.known_lags(self.n, center)
        arguments = self.inputs.stats, self._array, self.units, self.plain.array
        present: float = predict_event(row, *arguments)
        if self.fresh is not None:
            present = self._mixed(present, delay)
        if seen.counts(self.n):
            self._score(seen, center, unit)
            if seen.is_recent(self.n):
                value = self.plain.final(center, unit)
        then = self._described.copy()
        now = then.copy()
        now[:N_FAST_LAGS] = [3.0 * scaled(lag, center, unit) for lag in known]
        self.plain.delayed(delay)
        self._learn_row(row, y, w)
        if self.fresh is not None:
            self._learn_fresh(value, y, w, then, now, delay)
        lags[1:] = known[0]
        return present

    def _score(self, seen: PredictedWith, center: float, unit: float) -> None:
        """Let what was predicted be scored."""
        p = self._p
        outputs = seen.scored(self.n, center, unit)
        outputs = None if outputs is None else outputs[: len(EXPERTS)]
        if outputs is None or not np.isfinite(outputs).all():
            outputs = p[: len(EXPERTS)].copy()
        self.plain.score(seen)
        p[SCORED : SCORED + len(EXPERTS)] = outputs
        p[SCORED + len(EXPERTS)] = mixed(self.table, outputs)
        p[PUBLISHED], p[LATE] = seen.prediction, 1.0
        ends = seen.published(self.n)
        p[ENDS : ENDS + ends.size] = ends.ravel()

    def _heal(self, row: Vector, y: float, w: float, fault: int) -> None:
        """Reinitialise what is broken, and then learn the event if that was not done."""
        self.healer.heal_all(self.n)
        if fault != UNSOUND or self._learn_again(row, y, w) != UNSOUND:
            return
        # All is finite, but the ridge is out of all bounds: what predicts begins anew.
        for array in (self.inputs.stats, self.target, self.table, self.units):
            array[:] = np.nan
        self.healer.heal_all(self.n)
        self._learn_again(row, y, w)

    def _learn_again(self, row: Vector, y: float, w: float) -> int:
        arguments = self.inputs.stats, self._array, self.units, self.plain.array
        predict_event(row, *arguments)
        self._p[EVENT_WEIGHT] = w
        rest = self.memory, self._seed, self._squared, forecasts_address()
        fault: int = learn_event(row, y, *arguments, *rest)
        return fault

    def compile_learning(self, x: Mapping[Any, float]) -> None:
        """Compile `learn_event` without what it calls by address."""
        row = self.inputs.row(x)
        self._make_room(row)
        arguments = self.inputs.stats, self._array, self.units, self.plain.array
        address_of(learn_event, row, 0.0, *arguments, self.memory, self._seed, self._squared, 0)

    def _make_room(self, row: Vector) -> None:
        known = len(self.mean_squares) - N_FAST_LAGS
        if len(row) > known:
            self._widen(len(row) - known)

    def _require_prediction(self, row: Vector) -> None:
        """Make room for the row's new columns, and predict, unless that was just done."""
        self._make_room(row)
        if self._row is None or row.tobytes() != self._row.tobytes():
            predict_event(row, self.inputs.stats, self._array, self.units, self.plain.array)

    def _widen(self, n_columns: int) -> None:
        """Make room for new columns; all but the first enter the units when gradients say so."""
        if self.fresh is not None:
            self.fresh.widen(n_columns)
        self.plain.widen(n_columns)
        L = len(self.mean_squares)
        self.memory = np.insert(self.memory, n_columns * [L], ABSENT, axis=1)
        if self.n == 0:
            self._begin(L + n_columns)
        else:
            self.units = np.insert(self.units, n_columns * [L], 0.0, axis=1)
            self.mean_squares = np.pad(self.mean_squares, (0, n_columns))
            more = _blocks(L + n_columns) - len(self.P)
            self.theta = np.pad(self.theta, (0, more * BLOCK))
            self.P = np.concatenate([self.P, np.tile(np.eye(BLOCK) / RIDGE, (more, 1, 1))])
        self._gather()

    def predict_rows(self, frame: TableEvents, start: int, stop: int) -> Rows:
        """Return the predictions for rows `start` to `stop` of a table."""
        if self.fresh is not None:
            return np.array([self.predict(x) for x in frame.rows(start, stop)])
        X, _ = self._matrix(frame, start, stop)
        self._row = None
        return predict_rows(X, self.inputs.stats, self._array, self.units, self.plain.array)

    def learn_rows(self, frame: TableEvents, y: Rows, w: Vector, start: int, stop: int) -> None:
        """Learn rows `start` to `stop` of a table, of weights w, as `learn` does one by one.

        All are learned in a compiled loop except for those that bring a new column, or the first
        input that gets none.
        """
        if self.fresh is not None:
            events = zip(frame.rows(start, stop), y[start:stop], w[start:stop], strict=True)
            for x, label, weight in events:
                self.learn(x, float(label), float(weight))
            return
        columns = self.inputs.columns
        while start < stop:
            changes = len(columns) < columns.max_columns or columns.n_overflowed == 0
            end = frame.next_new(columns.place, start, stop) if changes else stop
            X, n_left_out = self._matrix(frame, start, end)
            self._learn_known(X, np.asarray(y[start:end], np.float64), w[start:end])
            columns.n_overflowed += n_left_out
            for x in frame.rows(end, min(end + 1, stop)):
                self.learn(x, float(y[end]), float(w[end]))
            start = end + 1

    def _learn_known(self, X: Vector, y: Vector, w: Vector) -> tuple[Vector, Vector]:
        """Learn rows (m, d); return their predictions and the target's unit after each, (m,)."""
        self._row = None
        if (w != 1.0).any():
            self._make_room_for_weights()
        predictions, units, learned = np.empty(len(X)), np.empty(len(X)), 0
        while learned < len(X):
            n, fault = learn_rows(
                X[learned:], y[learned:], w[learned:], predictions[learned:], units[learned:],
                self.inputs.stats, self._array, self.units, self.plain.array, self.memory,
                self._seed, self._squared,
            )  # fmt: skip
            learned += n
            if fault:
                self._heal(X[learned], float(y[learned]), float(w[learned]), fault)
                units[learned] = self.unit
                learned += 1
        return predictions, units

    def learn_in_a_row(
        self, xs: Sequence[Mapping[Any, float]], y: Sequence[float]
    ) -> tuple[list[float], list[float]]:
        """Predict and learn events up to one with a new name.

        Returns the predictions, and `unit` after each event.
        """
        X = self.inputs.columns.rows(xs)
        targets = np.clip(y[: len(X)], -LARGEST_VALUE, LARGEST_VALUE)
        y_pred, units = self._learn_known(X, targets, np.ones(len(X)))
        return y_pred.tolist(), np.where(np.isfinite(units), units, 1.0).tolist()

    def _matrix(self, frame: TableEvents, start: int, stop: int) -> tuple[Vector, int]:
        """Return raw rows (m, d) of a table, and the number of inputs without a column."""
        X, n_left_out = frame.matrix(self.inputs.columns.place, start, stop, ABSENT)
        if X.size and (X.max() > LARGEST_INPUT or X.min() < -LARGEST_INPUT):
            X = np.where(X < ABSENT, np.clip(X, -LARGEST_INPUT, LARGEST_INPUT), X)
        X.flags.writeable = False  # as single rows are
        return X, n_left_out

    def expert_weights(self) -> dict[str, float]:
        """Return the weight of each expert in the prediction."""
        weights = dict(zip(EXPERTS, self.table[WEIGHT].tolist(), strict=True))
        return self._with_fresh(self.plain.shares(weights, *center_and_unit(self.target)))

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the function varies."""
        return self._shares(self.mean_squares[N_FAST_LAGS:])

    def redrawn_at(self) -> dict[str, int]:
        """Return the number of events after which the units were last drawn."""
        return {"ridge": self.drawn_at}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._gather()
