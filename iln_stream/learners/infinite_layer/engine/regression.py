"""The engine of the regression learners."""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from iln_stream.compiled.regression_event import describe, observe
from iln_stream.compiled.target import scaled
from iln_stream.learners.infinite_layer.engine.drift import Drift
from iln_stream.learners.infinite_layer.engine.expert import Expert
from iln_stream.learners.infinite_layer.engine.healer import EVERY, Healer
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.intervals import PRESENT, Intervals
from iln_stream.learners.infinite_layer.engine.late_engine import LateEngine
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.observation import Observation, Vector
from iln_stream.learners.infinite_layer.engine.target import Target
from iln_stream.learners.infinite_layer.engine.token import AsOf, TokenFormat
from iln_stream.learners.infinite_layer.part import Part


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

    Parameters
    ----------
    inputs, target, memory
        The parts that experts may use as well.
    expert
        Predicts the scaled target.
    intervals
        Intervals around the predictions, if any are wanted.
    squared
        Whether rules minimise squared errors.

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
    ) -> None:
        super().__init__(inputs, memory.lags.shape[1], squared=squared)
        self.target = target
        self.memory = memory
        self.expert = expert
        self.intervals = intervals
        if intervals is not None:
            self.parts = (*self.parts, "intervals")
        self.drift_means = Drift()
        self.lags = np.zeros(memory.lags.shape[1])
        self._p = np.zeros(1)
        self._mixed = 0.0  # the prediction, scaled
        self._event = Observation(len(self.lags), 0)
        parts: dict[str, Part] = {
            "memory": memory, "target": target, "inputs": inputs, "last-targets": LastTargets(self),
            "drift": self.drift_means,
        }  # fmt: skip
        if intervals is not None:
            parts["intervals"] = intervals
        self.healer = Healer(parts | dict(expert.named(expert.names[0])))
        self.tokens = TokenFormat(
            (type(self).__name__, *self.healer.resets),
            len(self.lags),
            0 if intervals is None else len(intervals.sizes),
            len(expert.outputs()),
            intervals=intervals is not None,
        )

    @property
    def n(self) -> int:
        """Events learned."""
        return self.memory.n

    @property
    def unit(self) -> float:
        """The unit of the scale on which targets are learned."""
        return self.target.unit

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
        self._predict_for(x)
        return self._prediction

    def interval(self, x: Mapping[Any, float], level: float) -> tuple[float, float]:
        """Return the interval for x."""
        assert self.intervals is not None
        return self.intervals.around(self.predict(x), level, self._event)

    def predict_token(self, x: Mapping[Any, float]) -> tuple[float, Vector]:
        """Return the prediction for x, and a token with which the target can be learned late."""
        prediction = self.predict(x)
        event, sizes, ends = self._event, np.zeros(0), np.zeros(0)
        if self.intervals is not None:
            self.intervals.expect(event)
            sizes, ends = self.intervals.sizes, self.intervals.published(prediction)
        scale = event.center, event.unit if event.sound else math.nan
        outputs = self.expert.outputs()
        return prediction, self.tokens.written(
            self.n, prediction, scale, self.lags, sizes, ends, outputs
        )

    def learn(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        """Learn that y is the target of x, with weight w."""
        row = self._admit(x)
        self._require_prediction(row)
        self._event.weight = w
        self._learn_row(row, y)

    def learn_late(self, x: Mapping[Any, float], seen: AsOf, y: float, w: float = 1.0) -> float:
        """Learn that y is the target of x, which was predicted when things were as `seen`.

        Experts learn from their present predictions for the row with the last targets as seen;
        intervals and drift, from the error of the prediction of that time, and rules from the
        experts' outputs of that time, unless present ones say more: see `AsOf.counts` and `scored`.
        Afterwards the last targets are those of the labels learned last. Returns the present
        prediction.
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
        self, row: Vector, y: float, seen: AsOf | None = None, known: Vector | None = None
    ) -> None:
        """Learn the target of the raw row last predicted; `known` are the last targets by now."""
        event, memory = self._event, self.memory
        prediction = self._prediction
        if self.intervals is not None and not self.intervals.expect(event):
            event.sound = False
        if not event.sound:
            self._heal(row)
            prediction = self._prediction
            if self.intervals is not None:
                self.intervals.expect(event)
        ends = PRESENT
        if seen is not None and seen.counts(self.n):
            prediction, ends = seen.prediction, seen.published(self.n)
            self._score(seen)
        if self.intervals is not None:
            self.intervals.learn(prediction, y, ends)
        n = memory.count_event()
        t = observe(
            row, y, event.weight, event.row, prediction, self.inputs.stats, self.target.stats,
            self.lags, n, self.drift_means.record, memory.stored,
        )  # fmt: skip
        if self.fresh is not None:
            self._learn_fresh(t, seen, known)
        self.expert.learn(event, t, self._p)
        if memory.n % EVERY == 0 and not self.healer.inspect(memory.n):
            self.healer.heal_all(memory.n)

    def _score(self, seen: AsOf) -> None:
        """Let what was predicted be scored."""
        outputs = seen.scored(self.n, self._event.center, self._event.unit)
        if outputs is not None:
            self.expert.score(outputs)
        if self.intervals is not None:
            self.intervals.expect_as_of(seen.sizes)

    def _learn_fresh(self, t: float, seen: AsOf | None, known: Vector | None) -> None:
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
        if self.healer.heal_all(self.n):
            self._predict_row(row)
        faults, broken = self._event.faults, ~np.isfinite(self._p)
        if broken.any():
            faults = [(self.expert, broken)]
        if faults:
            self.healer.restart_all(faults, self.n)
            self._predict_row(row)

    @property
    def _prediction(self) -> float:
        """The expert's last prediction, in units of the target; if broken, the last target."""
        prediction = float(self._event.center + self._event.unit * self._mixed)
        if math.isfinite(prediction):
            return prediction
        self._event.sound = False
        last = float(self.memory.y[(self.n - 1) % len(self.memory.y)])
        return last if math.isfinite(last) else 0.0

    def _predict_row(self, x: Vector) -> None:
        event = self._event
        event.sound, event.faults = True, []
        event.center, event.unit = describe(
            x, self.inputs.stats, self.target.stats, self.lags, self.memory.n, event.row, event.v
        )
        self.expert.predict(event, self._p)
        self._mixed = self._p[0]
        if self.fresh is not None:
            self._mixed = self.fresh.predict(self._p[0], event.v, event.delay or None)

    def _widen(self, n_columns: int) -> None:
        self.memory.widen(n_columns)
        self.expert.widen(n_columns)
        if self.fresh is not None:
            self.fresh.widen(n_columns)
        if self.intervals is not None:
            self.intervals.widen(n_columns)
        self._event = Observation(len(self.lags), len(self.inputs))

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self._event = Observation(len(self.lags), len(self.inputs))
