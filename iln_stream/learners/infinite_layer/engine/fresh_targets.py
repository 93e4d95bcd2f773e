"""What late labels that are known by now say about those that are not."""

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.ml_poly import WEIGHT
from iln_stream.compiled.target import FENCE
from iln_stream.learners.infinite_layer.aggregation.ml_poly import MLPoly
from iln_stream.learners.infinite_layer.engine.observation import Observation, Vector
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec
from iln_stream.learners.infinite_layer.part import Part

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
    none is. While labels are later than `MOST_DELAY`, they neither count nor learn.

    Parameters
    ----------
    n_lags
        Number of last targets that are seen, at least 1.
    n_columns
        Number of inputs.
    squared
        Whether the rule minimises squared errors.

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
        p = np.empty(1)
        self._event.v[:] = v
        self.linear.predict(self._event, p)
        constant, *factors = self.series.theta[0, : 1 + self._n_lags].tolist()
        lags = v[: self._n_lags].tolist()
        for _ in range(steps):
            # As a bank does: 1 and .3 v are its features, and v is 3 times the scaled target.
            t = constant + 0.3 * sum([f * lag for f, lag in zip(factors, lags, strict=True)])
            lags = [3.0 * max(-FENCE, min(FENCE, t)), *lags[:-1]]
        return [float(p[0]), lags[0] / 3.0]

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
        self._event.v[:] = known
        self._lags.v[:] = known[: self._n_lags]
        for bank, event in ((self.linear, self._event), (self.series, self._lags)):
            own = np.empty(1)
            bank.predict(event, own)
            if not math.isfinite(own[0]):
                return False
            bank.learn(event, t, own)
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
        """Resume from a state that `state` returned."""
        super().restore(state)
        self._make_scratch()
