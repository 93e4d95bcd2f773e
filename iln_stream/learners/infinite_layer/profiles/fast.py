"""Profile fast of `InfiniteLayerRegressor`: a ridge and four others, in two compiled calls."""

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import fast_event as kernels
from iln_stream.compiled import fast_rows as rows
from iln_stream.compiled.column_statistics import no_statistics
from iln_stream.compiled.fast_event import BLOCK, N_LAGS, RIDGE
from iln_stream.compiled.ml_poly import WEIGHT, mixed
from iln_stream.compiled.moving_units import AVERAGE, WEIGHTS
from iln_stream.compiled.standardise import ABSENT
from iln_stream.compiled.target import center_and_unit, scaled
from iln_stream.features.base import LARGEST_INPUT
from iln_stream.learners.frames import Frame, Rows
from iln_stream.learners.infinite_layer.engine.drift import signal
from iln_stream.learners.infinite_layer.engine.healer import Healer
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.intervals import Intervals
from iln_stream.learners.infinite_layer.engine.late_engine import LateEngine
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.observation import Vector
from iln_stream.learners.infinite_layer.engine.token import AsOf, TokenFormat
from iln_stream.learners.infinite_layer.experts.weight_distribution import WeightDistribution
from iln_stream.learners.infinite_layer.profiles import fast_parts

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
    units, and gradients, on the newest event and on past ones, move the units.

    Parameters
    ----------
    max_columns
        The most input names that get a column.
    key
        Two words that seed all randomness.
    squared
        Whether the rule minimises squared errors, and so predicts the mean.

    """

    first_order = None

    kept = (
        "key", "target", "record", "table", "units", "theta", "P", "mean_squares", "memory",
        "drawn_at",
    )  # fmt: skip
    parts = ("inputs", "intervals", "healer")
    fixed = ("key", "target", "record", "table")

    def __init__(self, max_columns: int, key: NDArray[np.uint64], *, squared: bool = False) -> None:
        self.past = fast_parts.FastMemory(self)
        super().__init__(Inputs(max_columns, cast(Memory, self.past)), N_LAGS, squared=squared)
        self.key = key
        self.target = no_statistics(1)
        # The records of the mixture, of drift and of the ridge; the last two targets; counts.
        self.record = np.zeros(kernels.LENGTH)
        self.table = np.zeros((4, len(EXPERTS)))
        self.begin_rule()
        self.memory = np.zeros((MEMORY, N_LAGS + 1))  # the last targets, raw row, target
        self.intervals = Intervals()
        self.healer = Healer(
            {
                "count": fast_parts.Count(self),
                "memory": self.past,
                "target": fast_parts.TargetStatistics(self),
                "inputs": self.inputs,
                "last-targets": fast_parts.LastTargets(self),
                "drift": fast_parts.DriftMeans(self),
                "intervals": self.intervals,
                "mixture-rule": fast_parts.Rule(self),
                "ridge": fast_parts.Ridge(self),
            }
        )
        self.tokens = TokenFormat(
            (type(self).__name__, *EXPERTS), N_LAGS, 0, len(EXPERTS), intervals=True
        )
        self._begin(N_LAGS)
        self._gather()

    def begin_rule(self) -> None:
        """Let the experts weigh the same."""
        self.table[:] = 0.0
        self.table[WEIGHT] = 1.0 / len(EXPERTS)
        self.record[kernels.EVENTS + 1 : kernels.DRIFT] = 0.0

    def draw_units(self) -> None:
        """Draw the units anew."""
        d = self.units.shape[1] - 1
        self.drawn_at = self.n
        counter = np.array([0, 0, self.n, 0], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=self.key, counter=counter))
        self.units[:] = 0.0
        self.units[[WEIGHTS, AVERAGE]] = np.vstack(PRIOR.draw(N_UNITS, np.eye(d), N_LAGS, rng))
        self.record[kernels.STEPS] = 0.0

    def _begin(self, d: int) -> None:
        """Draw units for d lags and inputs, and let the ridge on them begin."""
        self.units = np.zeros((4, d + 1, N_UNITS), np.float32)
        self.draw_units()
        n_blocks = _blocks(d)
        self.theta = np.zeros(n_blocks * BLOCK)
        self.P = np.tile(np.eye(BLOCK) / RIDGE, (n_blocks, 1, 1))
        self.mean_squares = np.ones(d)  # of the gradient along each lag and input
        self.record[kernels.HUBER_RECORD : kernels.KEPT] = 0.0

    @property
    def resets(self) -> dict[str, int]:
        """How often each part was reinitialised."""
        return self.healer.resets

    @property
    def n(self) -> int:
        """Events learned; while their count is broken, the most that another part has counted."""
        n = float(self.record[kernels.EVENTS])
        if math.isfinite(n):
            return int(n)
        others = (self.intervals.record[0], self.record[kernels.DRIFT], self.drawn_at)
        return int(max(other for other in others if math.isfinite(other)))

    @property
    def unit(self) -> float:
        """The unit of the scale on which targets are learned; 1 while it is not finite."""
        unit = float(center_and_unit(self.target)[1]) if self.n else 1.0
        return unit if math.isfinite(unit) else 1.0

    @property
    def drift(self) -> float:
        """Mean |error| of about the last 50 events over that of about the last 1000."""
        return signal(self.record[kernels.DRIFT : kernels.LAGS])

    def _gather(self) -> None:
        """Move most arrays into one, which is passed to compiled functions in their stead."""
        intervals = self.intervals
        look = np.zeros((5, len(self.theta)))  # the last prediction and its row
        parts = kernels.Parts(
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
        self._p, self._inputs = look[kernels.PREDICTIONS], look[kernels.INPUTS]
        self._seed = int(self.key[0] >> np.uint64(1))
        self._row: Vector | None = None  # the last predicted; comparing its bytes would cost more

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copies have their own arrays."""
        self.__dict__.update(state)
        self._gather()

    def predict(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for x."""
        self._row = row = self.inputs.row(x)
        y_pred: float = kernels.predict_event(row, self.inputs.stats, self._array, self.units)
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
        prediction = self.predict(x)
        return prediction, self.tokens.written(
            self.n,
            prediction,
            center_and_unit(self.target),
            self.record[kernels.LAGS : kernels.HUBER_RECORD],
            np.zeros(0),
            self.intervals.published(prediction),
            self._p[: len(EXPERTS)].tolist(),
        )

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
        value, v = float(mixed(self.table, self._p[: len(EXPERTS)])), self._described.copy()
        self._learn_row(row, y, w)
        self._learn_fresh(value, y, w, v, v, 0)

    def _learn_row(self, row: Vector, y: float, w: float) -> None:
        """Learn the target of the row last predicted, with weight w."""
        if w != 1.0:
            self._weigh(w)
        fault = kernels.learn_event(
            row,
            y,
            self.inputs.stats,
            self._array,
            self.units,
            self.memory,
            self._seed,
            self._squared,
        )
        if fault:
            self._heal(row, y, w, fault)

    def _weigh(self, w: float) -> None:
        """Let the event last predicted count w; the memory gets room for weights."""
        self._make_room_for_weights()
        self._p[kernels.EVENT_WEIGHT] = w

    def _make_room_for_weights(self) -> None:
        if self.memory.shape[1] == len(self.mean_squares) + 1:
            self.memory = np.column_stack([self.memory, np.ones(len(self.memory))])

    def _learn_fresh(
        self, value: float | None, y: float, w: float, seen: Vector, known: Vector, delay: int
    ) -> None:
        """Let `FreshTargets` learn the target: see there."""
        t = scaled(y, *center_and_unit(self.target))
        self._teach_fresh(value, t, w, seen, known, delay)

    def learn_late(self, x: Mapping[Any, float], seen: AsOf, y: float, w: float = 1.0) -> float:
        """Learn that y is the target of x, which was predicted when things were as `seen`.

        See `RegressionEngine.learn_late`.
        """
        self._require_fresh(self.n - seen.n)
        row = self.inputs.admit(x)
        self._row = None
        self._make_room(row)
        lags = self.record[kernels.LAGS : kernels.HUBER_RECORD]
        center, unit = center_and_unit(self.target)
        known, delay, value = lags.copy(), max(self.n - seen.n, 0), None
        lags[:] = seen.known_lags(self.n, center)
        present: float = kernels.predict_event(row, self.inputs.stats, self._array, self.units)
        if self.fresh is not None:
            present = self._mixed(present, delay)
        if seen.counts(self.n):
            self._score(seen, center, unit)
            if seen.is_recent(self.n):
                value = float(self._p[kernels.SCORED + len(EXPERTS)])
        then = self._described.copy()
        now = then.copy()
        now[:N_LAGS] = [3.0 * scaled(lag, center, unit) for lag in known]
        self._learn_row(row, y, w)
        if self.fresh is not None:
            self._learn_fresh(value, y, w, then, now, delay)
        lags[1:] = known[0]
        return present

    def _score(self, seen: AsOf, center: float, unit: float) -> None:
        """Let what was predicted be scored."""
        p = self._p
        outputs = seen.scored(self.n, center, unit)
        if outputs is None or not np.isfinite(outputs).all():
            outputs = p[: len(EXPERTS)].copy()
        p[kernels.SCORED : kernels.SCORED + len(EXPERTS)] = outputs
        p[kernels.SCORED + len(EXPERTS)] = mixed(self.table, outputs)
        p[kernels.PUBLISHED], p[kernels.LATE] = seen.prediction, 1.0
        ends = seen.published(self.n)
        p[kernels.ENDS : kernels.ENDS + ends.size] = ends.ravel()

    def _heal(self, row: Vector, y: float, w: float, fault: int) -> None:
        """Reinitialise what is broken, and then learn the event if that was not done."""
        self.healer.heal_all(self.n)
        if fault != kernels.UNSOUND or self._learn_again(row, y, w) != kernels.UNSOUND:
            return
        # All is finite, but the ridge is out of all bounds: what predicts begins anew.
        for array in (self.inputs.stats, self.target, self.table, self.units):
            array[:] = np.nan
        self.healer.heal_all(self.n)
        self._learn_again(row, y, w)

    def _learn_again(self, row: Vector, y: float, w: float) -> int:
        arguments = self.inputs.stats, self._array, self.units
        kernels.predict_event(row, *arguments)
        self._p[kernels.EVENT_WEIGHT] = w
        fault: int = kernels.learn_event(row, y, *arguments, self.memory, self._seed, self._squared)
        return fault

    def _make_room(self, row: Vector) -> None:
        known = len(self.mean_squares) - N_LAGS
        if len(row) > known:
            self._widen(len(row) - known)

    def _require_prediction(self, row: Vector) -> None:
        """Make room for the row's new columns, and predict, unless that was just done."""
        self._make_room(row)
        if self._row is None or row.tobytes() != self._row.tobytes():
            kernels.predict_event(row, self.inputs.stats, self._array, self.units)

    def _widen(self, n_columns: int) -> None:
        """Make room for new columns; all but the first enter the units when gradients say so."""
        if self.fresh is not None:
            self.fresh.widen(n_columns)
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

    def predict_rows(self, frame: Frame, start: int, stop: int) -> Rows:
        """Return the predictions for rows `start` to `stop` of a table."""
        if self.fresh is not None:
            return np.array([self.predict(x) for x in frame.rows(start, stop)])
        X, _ = self._matrix(frame, start, stop)
        self._row = None
        return rows.predict_rows(X, self.inputs.stats, self._array, self.units)

    def learn_rows(self, frame: Frame, y: Rows, w: Vector, start: int, stop: int) -> None:
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
            self._learn_known(frame, y, w, start, end)
            for x in frame.rows(end, min(end + 1, stop)):
                self.learn(x, float(y[end]), float(w[end]))
            start = end + 1

    def _learn_known(self, frame: Frame, y: Rows, w: Vector, start: int, stop: int) -> None:
        """Learn rows whose inputs have columns, or find none."""
        X, n_left_out = self._matrix(frame, start, stop)
        targets, weights = np.asarray(y[start:stop], np.float64), w[start:stop]
        self._row = None
        if (weights != 1.0).any():
            self._make_room_for_weights()
        learned = 0
        while learned < len(X):
            n, fault = rows.learn_rows(
                X[learned:], targets[learned:], weights[learned:], self.inputs.stats, self._array,
                self.units, self.memory, self._seed, self._squared,
            )  # fmt: skip
            learned += n
            if fault:
                self._heal(X[learned], float(targets[learned]), float(weights[learned]), fault)
                learned += 1
        self.inputs.columns.n_overflowed += n_left_out

    def _matrix(self, frame: Frame, start: int, stop: int) -> tuple[Vector, int]:
        """Return raw rows (m, d) of a table, and the number of inputs without a column."""
        X, n_left_out = frame.matrix(self.inputs.columns.place, start, stop, ABSENT)
        if X.size and (X.max() > LARGEST_INPUT or X.min() < -LARGEST_INPUT):
            X = np.where(X < ABSENT, np.clip(X, -LARGEST_INPUT, LARGEST_INPUT), X)
        X.flags.writeable = False  # as single rows are
        return X, n_left_out

    def expert_weights(self) -> dict[str, float]:
        """Return the weight of each expert in the prediction."""
        return self._with_fresh(dict(zip(EXPERTS, self.table[3].tolist(), strict=True)))

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the function varies."""
        return self._shares(self.mean_squares[N_LAGS:])

    def redrawn_at(self) -> dict[str, int]:
        """Return the number of events after which the units were last drawn."""
        return {"ridge": self.drawn_at}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self._gather()
