"""How an event passes from named inputs to the experts and back."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import UPPER
from iln_stream.kernels.intervals import LEVELS
from iln_stream.kernels.mixing import WEIGHT
from iln_stream.kernels.plain_forecasts import N_FORECASTS
from iln_stream.kernels.program import Call, Step, bound
from iln_stream.kernels.regression_event import FENCE, center_and_unit, describe, observe, scaled
from iln_stream.learners.infinite_layer.expert import Expert, Observation, Vector
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.intervals import PRESENT, Intervals
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.mixing import MLPoly
from iln_stream.learners.infinite_layer.part import EVERY, Healer, Part
from iln_stream.learners.infinite_layer.plain_forecasts import PlainForecasts
from iln_stream.learners.infinite_layer.target import Drift, Target
from iln_stream.learners.infinite_layer.tokens import PredictedWith, TokenFormat


class Engine(Part):
    """Gives names columns, lets the experts predict for a row, and then lets them learn from it.

    A subclass says what its experts are, by the methods `_widen` and `_predict_row`, and how they
    learn, by a method `learn` that begins with `_admit`. An event that was just predicted is not
    predicted again when its label comes: `predict` notes its row in `_predicted`, and
    `_require_prediction` looks there; `FastEngine` keeps the row itself.
    """

    parts: tuple[str, ...] = ("inputs",)
    networks: Any = None  # the networks among the experts, if there are any

    def __init__(self, inputs: Inputs) -> None:
        self.inputs = inputs
        self._predicted: bytes | None = None

    @property
    def n_overflowed(self) -> int:
        """Number of inputs of learned events that got no column."""
        return self.inputs.columns.n_overflowed

    def _widen(self, n_columns: int) -> None:
        """Make room for new columns."""
        raise NotImplementedError

    def _predict_row(self, x: Vector) -> None:
        """Let every expert predict for the raw row x."""
        raise NotImplementedError

    def _admit(self, x: Mapping[Any, float]) -> Vector:
        """Give the new names of x columns, and return its raw row."""
        known = self.inputs.d
        row = self.inputs.admit(x)
        if len(row) > known:
            self._widen(len(row) - known)
            self._predicted = None
        return row

    def _require_prediction(self, row: Vector) -> None:
        """Let every expert predict for the raw row, unless that was the last thing they did."""
        if row.tobytes() != self._predicted:
            self._predict_row(row)
        self._predicted = None  # the state behind the prediction is about to change

    def __getstate__(self) -> dict[str, Any]:
        """What a copy gets: it predicts again, as views of scratch arrays would not be copied."""
        return {**self.__dict__, "_predicted": None}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._predicted = None

    def _shares(self, relevance: Vector) -> dict[Any, float]:
        """Return the share of each input, by name, in its columns' relevance (d,)."""
        total = relevance.sum()
        shares = relevance / total if total > 0.0 else relevance
        return dict(zip(self.inputs.columns.place, shares.tolist(), strict=True))


FORGETTING = 0.995

KNOWN = 100
"""Labels whose predictions are compared before one of the two predictors may count."""

CLOSE = 1.05
"""A predictor counts while its mean |error| is at most this multiple of the engine's own."""

WINDOW = 200
"""Events over which these means are taken, about."""

MOST_DELAY = 5
"""Where more events than this were learned between an event and its label, they have not paid."""

NAMES = ("fresh-linear", "fresh-series")


class FreshTargets(Part):
    """Two linear predictors trained on the targets just before an event, where labels are late.

    All other experts are trained on the last targets that were known at the prediction. These learn
    from the targets that became known since, and predict from the newest known ones. The first does
    so as if they were the targets just before the event, and sees the inputs, too; the second sees
    no input, and is applied once for each step since the newest known target. ML-Poly mixes both
    with the engine's own prediction while their recent errors are about as small: without this
    condition, chance gives them weight where they are much worse.

    An engine has them from its first label on that is a few events late, so nothing changes where
    none is. While labels are later than `MOST_DELAY`, they neither count nor learn. The rule
    minimises squared errors if `squared`.
    """

    kept = ("errors", "n_scored", "delay")
    parts = ("linear", "series", "rule")
    fixed = ("errors",)

    def __init__(self, n_lags: int, n_columns: int, *, squared: bool) -> None:
        self.linear, self.series = (
            RLSBank((RLSSpec(name, None, recent=True, forgetting=FORGETTING),), 0, n_lags)
            for name in NAMES
        )
        self.rule = MLPoly(1 + len(NAMES), squared=squared)
        self.errors = np.zeros(1 + len(NAMES))  # mean |error| of the engine and of each predictor
        self.n_scored = 0
        self.delay = 0  # events learned between the last label's prediction and the label
        self._n_lags = n_lags
        self._begin_rule()
        self.linear.widen(n_columns)
        self._make_scratch()

    def _begin_rule(self) -> None:
        self.rule.table[:] = 0.0
        self.rule.table[WEIGHT, 0] = 1.0
        self.errors[:] = 0.0
        self.n_scored = 0

    def _make_scratch(self) -> None:
        self._event = Observation(0, self.linear.omega.shape[1])
        self._lags = Observation(self._n_lags, 0)
        self._own = np.zeros(1)  # the last prediction of either
        self._steps: list[Any] = []

    def _run(self, i: int) -> None:
        """Let the linear predictor predict or learn, or the series: by number, in this order."""
        if not self._steps:
            banks = (self.linear, self._event), (self.series, self._lags)
            steps: list[Any] = []
            for bank, event in banks:
                steps += bound(bank.predicting(event, self._own))
                steps += bound(bank.learning(event, self._own))
            self._steps = steps
        self._steps[i]()

    def __getstate__(self) -> dict[str, Any]:
        """What a copy gets: it binds arrays of its own."""
        return {**self.__dict__, "_steps": []}

    def widen(self, n_columns: int) -> None:
        """Make room for new columns."""
        self.linear.widen(n_columns)
        self._make_scratch()

    def predict(self, value: float, v: Vector, delay: int | None = None) -> float:
        """Return the mixture of the engine's scaled prediction and these.

        Parameters
        ----------
        value
            The engine's own prediction.
        v
            The newest known targets, and the inputs' deviations: as `Observation.v`.
        delay
            Events learned since the event was predicted; None: that of the last label.

        """
        delay = self.delay if delay is None else delay
        counting = self._counting
        if delay > MOST_DELAY or not any(counting):
            return value
        return self._mixed([value, *self._predictions(v, 1 + delay)], counting)

    def _predictions(self, v: Vector, steps: int) -> list[float]:
        """Return what both predict so many steps after the newest known target."""
        self._event.v[:] = v
        self._run(0)
        constant, *factors = self.series.theta[0, : 1 + self._n_lags].tolist()
        lags = v[: self._n_lags].tolist()
        for _ in range(steps):
            # As a bank does: 1 and 0.3 v are its features, and v is 3 times the scaled target.
            t = constant + 0.3 * sum([f * lag for f, lag in zip(factors, lags, strict=True)])
            lags = [3.0 * max(-FENCE, min(FENCE, t)), *lags[:-1]]
        return [float(self._own[0]), lags[0] / 3.0]

    def _mixed(self, p: list[float], counting: list[bool]) -> float:
        """Return the mixture of those that count."""
        weights: list[float] = self.rule.weights.tolist()
        weights[1:] = [
            w if counts else 0.0 for w, counts in zip(weights[1:], counting, strict=True)
        ]
        total = sum(weights)
        if not total:
            return p[0]
        return math.fsum([w * each for w, each in zip(weights, p, strict=True) if w]) / total

    @property
    def _counting(self) -> list[bool]:
        """Which of both take part in the mixture."""
        own, *errors = self.errors.tolist()
        return [self.n_scored >= KNOWN and error <= CLOSE * own for error in errors]

    def learn(
        self, value: float | None, t: float, w: float, seen: Vector, known: Vector, delay: int
    ) -> bool:
        """Learn a target; return False, and learn nothing more, if a prediction is not finite.

        Parameters
        ----------
        value
            What the engine itself predicted when the event came; None: it is not scored.
        t
            The scaled target.
        w
            The event's weight.
        seen, known
            The last targets known then and now, and the inputs' deviations.
        delay
            Events learned since the event came.

        """
        self.delay = delay
        if delay > MOST_DELAY:
            return True
        if value is not None:
            p = [value, *self._predictions(seen, 1 + delay)]
            if not math.isfinite(sum(p)):
                return False
            self._score(p, t, w)
        self._event.weight = self._lags.weight = w
        self._event.t = self._lags.t = t
        self._event.v[:] = known
        self._lags.v[:] = known[: self._n_lags]
        for bank in range(2):
            self._run(2 * bank)
            if not math.isfinite(self._own[0]):
                return False
            self._run(2 * bank + 1)
        return True

    def _score(self, p: list[float], t: float, w: float) -> None:
        """Score the engine's prediction and these; those that do not count adopt the mixture."""
        counting = self._counting
        self.n_scored += 1
        self.errors += (np.abs(np.array(p) - t) - self.errors) / min(self.n_scored, WINDOW)
        if any(counting):
            mixture = self._mixed(p, counting)
            adopted = [
                each if counts else mixture
                for each, counts in zip(p, [True, *counting], strict=True)
            ]
            self.rule.learn(np.array(adopted), mixture, t, w)

    def shares(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Return the weights of the engine's experts and of these in the prediction."""
        counting = [each and self.delay <= MOST_DELAY for each in self._counting]
        own, *others = (self._mixed(each, counting) for each in np.eye(1 + len(NAMES)).tolist())
        found = {name: weight * own for name, weight in weights.items()}
        return found | dict(zip(NAMES, others, strict=True))

    def reinitialise(self, broken: Collection[str]) -> None:
        """Restart what is broken; both have to earn their weight again."""
        for bank in (self.linear, self.series):
            bank.reinitialise(broken)
        self._begin_rule()

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Restart both."""
        for bank in (self.linear, self.series):
            bank.restart(np.ones(1, bool))
        self._begin_rule()

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._make_scratch()


class LateEngine(Engine):
    """Has `FreshTargets` from the first label on that is a few events late.

    With `n_lags` = 0 last targets as inputs there is nothing to learn from them.
    """

    healer: Healer

    def __init__(self, inputs: Inputs, n_lags: int, *, squared: bool) -> None:
        super().__init__(inputs)
        self._n_lags = n_lags
        self._squared = squared
        self.fresh: FreshTargets | None = None

    @property
    def n(self) -> int:
        """Events learned."""
        raise NotImplementedError

    def _require_fresh(self, delay: int) -> None:
        """Have them if a label is late by so many events, and if there are last targets."""
        if self.fresh is None and self._n_lags and 0 < delay <= MOST_DELAY:
            self._begin_fresh()

    def _begin_fresh(self) -> None:
        self.fresh = FreshTargets(self._n_lags, len(self.inputs), squared=self._squared)
        self.healer.add("fresh-targets", self.fresh)

    def _teach_fresh(
        self, value: float | None, t: float, w: float, seen: Vector, known: Vector, delay: int
    ) -> None:
        """Let `FreshTargets` learn the scaled target: see there."""
        assert self.fresh is not None
        if not self.fresh.learn(value, t, w, seen, known, delay):
            self.healer.restart_all([(self.fresh, np.ones(1, bool))], self.n)

    def _with_fresh(self, weights: dict[str, float]) -> dict[str, float]:
        """Return the experts' weights in the prediction, given those without `FreshTargets`."""
        return weights if self.fresh is None else self.fresh.shares(weights)

    def state(self) -> dict[str, Any]:
        """Return the state; that of `FreshTargets` is in it once there are any."""
        return super().state() | ({} if self.fresh is None else {"fresh": self.fresh.state()})

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore({name: each for name, each in state.items() if name != "fresh"})
        if "fresh" in state:
            self._begin_fresh()
            assert self.fresh is not None
            self.fresh.restore(state["fresh"])


class LastTargets(Part):
    """An engine's last targets, as a part that heals."""

    def __init__(self, engine: "RegressionEngine") -> None:
        self.engine = engine

    def floats(self) -> Iterator[tuple[str, Vector]]:
        """Yield the last targets."""
        yield "lags", self.engine.lags

    def reinitialise(self, broken: Collection[str]) -> None:
        """Take the last targets from the memory."""
        memory, lags = self.engine.memory, self.engine.lags
        if memory.filled:
            for lag in range(len(lags)):
                lags[lag] = memory.y[(memory.n - 1 - min(lag, memory.filled - 1)) % len(memory.y)]
        else:
            lags[:] = 0.0


class RegressionEngine(LateEngine):
    """Scales the target, and lets one expert, which may be a mixture of others, predict it.

    Rules minimise squared errors if `squared`; `plain` forecasts are mixed with the expert's
    prediction.
    """

    kept = fixed = ("lags",)
    parts: tuple[str, ...] = ("inputs", "target", "memory", "expert", "drift_means", "healer")

    def __init__(
        self,
        inputs: Inputs,
        target: Target,
        memory: Memory,
        expert: Expert,
        intervals: Intervals | None = None,
        *,
        squared: bool = False,
        plain: PlainForecasts | None = None,
    ) -> None:
        super().__init__(inputs, memory.lags.shape[1], squared=squared)
        self.target = target
        self.memory = memory
        self.expert = expert
        self.intervals = intervals
        if intervals is not None:
            self.parts = (*self.parts, "intervals")
        self.plain = plain
        if plain is not None:
            self.parts = (*self.parts, "plain")
        self.drift_means = Drift()
        self.lags = np.zeros(memory.lags.shape[1])
        self._p = np.zeros(1)
        self._prediction = 0.0  # the last one, in units of the target
        self._ends = np.zeros((len(LEVELS), 3))  # of intervals that are learned late
        self._event = Observation(len(self.lags), 0)
        self._unbind()
        parts: dict[str, Part] = {
            "memory": memory, "target": target, "inputs": inputs, "last-targets": LastTargets(self),
            "drift": self.drift_means,
        }  # fmt: skip
        if intervals is not None:
            parts["intervals"] = intervals
        if plain is not None:
            parts["plain-forecasts"] = plain
        self.healer = Healer(parts | dict(expert.named(expert.names[0])))
        self.tokens = TokenFormat(
            (type(self).__name__, *self.healer.resets),
            len(self.lags),
            0 if intervals is None else len(intervals.sizes),
            len(expert.outputs()) + (0 if plain is None else N_FORECASTS),
            intervals=intervals is not None,
        )

    def _unbind(self) -> None:
        """Bind steps anew before they run again: arrays were replaced, or others sleep now."""
        self._bound: dict[tuple[str, bool], list[Callable[[], None]]] = {}

    def __getstate__(self) -> dict[str, Any]:
        """What a copy gets: it binds arrays of its own."""
        return {**super().__getstate__(), "_bound": {}}

    @property
    def n(self) -> int:
        return self.memory.n

    @property
    def unit(self) -> float:
        """The unit of the scale on which targets are learned."""
        return float(center_and_unit(self.target.stats)[1])

    @property
    def drift(self) -> float:
        """Mean |error| of about the last 50 events over that of about the last 1000."""
        return self.drift_means.signal

    @property
    def resets(self) -> dict[str, int]:
        """How often each part was reinitialised because it had broken."""
        return self.healer.resets

    def predict(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for x."""
        row = self.inputs.row(x)
        self._predict_row(row)
        self._predicted = row.tobytes()
        return self._prediction

    def frozen(self) -> dict[str, Any]:
        """Return what `FrozenRegressor` predicts by; its arrays may be the engine's own."""
        self.predict({})  # which experts sleep is known after a prediction
        event = self._event
        (form,) = self.expert.frozen(event)
        plain = None if self.plain is None else self.plain.frozen(event.center, event.unit)
        return {
            "stats": self.inputs.stats[: UPPER + 1],
            "lags": event.v[: len(self.lags)],
            "center": event.center,
            "unit": event.unit,
            "expert": form,
            "plain": plain,
        }

    def interval(self, x: Mapping[Any, float], level: float) -> tuple[float, float]:
        """Return the interval for x."""
        assert self.intervals is not None
        return self.intervals.around(self.predict(x), level)

    def predict_token(self, x: Mapping[Any, float]) -> tuple[float, Vector]:
        """Return the prediction for x, and a token with which the target can be learned late."""
        prediction = self.predict(x)
        event, sizes, ends = self._event, np.zeros(0), np.zeros(0)
        if self.intervals is not None:
            sizes, ends = self.intervals.sizes, self.intervals.published(prediction)
        scale = event.center, event.unit if event.sound else math.nan
        outputs = self.expert.outputs()
        if self.plain is not None:
            outputs += self.plain.outputs(event.center, event.unit)
        return prediction, self.tokens.written(
            self.n, prediction, scale, self.lags, sizes, ends, outputs
        )

    def learn(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        """Learn that y is the target of x, with weight w."""
        row = self._admit(x)
        self._require_prediction(row)
        self._event.weight = w
        self._learn_row(row, y)

    def learn_late(
        self, x: Mapping[Any, float], seen: PredictedWith, y: float, w: float = 1.0
    ) -> float:
        """Learn that y is the target of x, which was predicted when things were as `seen`.

        Experts learn from their present predictions for the row with the last targets as seen;
        intervals and drift, from the error of the prediction of that time, and rules from the
        experts' outputs of that time, unless present ones say more: see `PredictedWith.counts`
        and `scored`. Afterwards the last targets are those of the labels learned last.
        Returns the present prediction.
        """
        self._require_fresh(self.n - seen.n)
        row = self._admit(x)
        event, lags = self._event, self.lags.copy()
        self.lags[:] = seen.known_lags(self.n, self.target.center)
        event.delay, event.weight = max(self.n - seen.n, 0), w
        self._predicted = None
        try:
            self._predict_row(row)
            present = self._prediction
            self._learn_row(row, y, seen, lags)
            lags[1:] = lags[:-1] if self.n > 1 else y
            lags[:1] = y
        finally:
            event.delay = 0
            self.lags[:] = lags
        return present

    def _learn_row(
        self, row: Vector, y: float, seen: PredictedWith | None = None, known: Vector | None = None
    ) -> None:
        """Learn the target of the raw row last predicted; `known` are the last targets by now."""
        event, memory = self._event, self.memory
        if self.intervals is not None and not self.intervals.is_sound:
            event.sound = False
        if not event.sound:
            self._heal(row)
        event.prediction, event.y = self._prediction, y
        if (event.weight != 1.0 or event.delay) and self.expert.admit(event):
            self._unbind()
        late = False
        if seen is not None and seen.counts(self.n):
            late, event.prediction = True, seen.prediction
            if self.intervals is not None:
                self._ends[:] = seen.published(self.n)
            self._score(seen)
        if self.plain is not None:
            self.plain.delayed(event.delay)
        event.evicted = memory.y[event.n % len(memory.y)]
        memory.n += 1
        self._run(self._recording, late)
        if self.fresh is not None:
            self._learn_fresh(event.t, seen, known)
        self._run(self._learning, self.expert.is_late)
        if self.expert.learned(event):
            self._unbind()
        if memory.n % EVERY == 0 and not self.healer.inspect(memory.n):
            self._unbind()  # before arrays are replaced: a warning may be an error
            self.healer.heal_all(memory.n)
        if self._after_event():
            self._unbind()

    def _after_event(self) -> bool:
        """Do what is due once an event is learned; return whether others sleep now."""
        return False

    def _score(self, seen: PredictedWith) -> None:
        """Let what was predicted be scored."""
        outputs = seen.scored(self.n, self._event.center, self._event.unit)
        if outputs is not None:
            self.expert.score(outputs if self.plain is None else outputs[:-N_FORECASTS])
        if self.plain is not None:
            self.plain.score(seen)
        if self.intervals is not None:
            self.intervals.expect_as_of(seen.sizes)

    def _learn_fresh(self, t: float, seen: PredictedWith | None, known: Vector | None) -> None:
        """Let `FreshTargets` learn the scaled target."""
        event, fresh = self._event, self._event.v.copy()
        if known is not None:
            fresh[: len(known)] = [3.0 * scaled(lag, event.center, event.unit) for lag in known]
        value: float | None = float(self._p[0])
        if seen is not None:
            value = self.expert.value if seen.is_recent(self.n - 1) else None
        self._teach_fresh(value, t, event.weight, event.v, fresh, event.delay)

    def _heal(self, row: Vector) -> None:
        """Reinitialise what is broken, so that the raw row is predicted by sound parts."""
        self._unbind()
        if self.healer.heal_all(self.n):
            self._predict_row(row)
        faults, broken = self._event.faults, ~np.isfinite(self._p)
        if broken.any():
            faults = [(self.expert, broken)]
        if faults:
            self._unbind()
            self.healer.restart_all(faults, self.n)
            self._predict_row(row)

    def _predict_row(self, x: Vector) -> None:
        event = self._event
        event.sound, event.faults = True, []
        event.n = self.memory.n
        event.take(x)
        self._run(self._predicting)
        value = self._p[0]
        if not math.isfinite(value):
            self.expert.predict(event, self._p)  # with what has faults left out
            value = self._p[0]
        if self.fresh is not None:
            value = self.fresh.predict(value, event.v, event.delay or None)
        self._prediction = float(event.center + event.unit * value)
        if self.plain is not None and math.isfinite(self._prediction):
            own = self._prediction
            self._prediction = self.plain.predict(event.row, own, event.center, event.unit)
            if not self.plain.is_sound:
                event.sound = False
                event.faults.append((self.plain, np.ones(1, bool)))
        if not math.isfinite(self._prediction):  # the last target takes its place
            event.sound = False
            last = float(self.memory.y[(self.memory.n - 1) % len(self.memory.y)])
            self._prediction = last if math.isfinite(last) else 0.0

    def _run(self, steps: Callable[[bool], Iterable[Step]], late: bool = False) -> None:
        """Run the steps that a method returns; bind them if they are not."""
        name = steps.__name__, late
        if name not in self._bound:
            self._bound[name] = bound(steps(late))
        for step in self._bound[name]:
            step()

    def _predicting(self, late: bool) -> Iterable[Step]:
        """Yield the steps by which the experts predict the row taken, and intervals its error."""
        event, at = self._event, self._event.at
        row = event.raw, self.inputs.stats, self.target.stats, self.lags, at.n, event.row, event.v
        yield Call(describe, row, (at.center, at.unit))
        yield from self.expert.predicting(event, self._p)
        if self.intervals is not None:
            yield from self.intervals.expecting(event)

    def _recording(self, late: bool) -> Iterable[Step]:
        """Yield the steps by which the event joins intervals, memory, statistics and forecasts."""
        event, at = self._event, self._event.at
        if self.intervals is not None:
            yield from self.intervals.learning(event, self._ends if late else PRESENT)
        arguments = (
            event.raw, at.y, at.weight, event.row, at.prediction, self.inputs.stats,
            self.target.stats, self.lags, at.n, self.drift_means.record, self.memory.stored,
        )  # fmt: skip
        yield Call(observe, arguments, (at.t,))
        if self.plain is not None:
            yield self.plain.learning(event, squared=self._squared)

    def _learning(self, late: bool) -> Iterable[Step]:
        """Return the steps by which the experts learn; rules know whether they are late."""
        return self.expert.learning(self._event, self._p)

    def _widen(self, n_columns: int) -> None:
        self.memory.widen(n_columns)
        self.expert.widen(n_columns)
        if self.plain is not None:
            self.plain.widen(n_columns)
        if self.fresh is not None:
            self.fresh.widen(n_columns)
        if self.intervals is not None:
            self.intervals.widen(n_columns)
        self._event = Observation(len(self.lags), len(self.inputs))
        self._unbind()

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._event = Observation(len(self.lags), len(self.inputs))
        self._unbind()
