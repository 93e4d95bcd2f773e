"""Forecasts from raw targets and inputs, beside an engine's own prediction."""

import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from iln_stream.kernels import plain_forecasts as kernels
from iln_stream.kernels.mixing import WEIGHT
from iln_stream.kernels.plain_forecasts import LATE, N_FORECASTS, SCORED, PlainState
from iln_stream.kernels.program import Call, Step
from iln_stream.learners.infinite_layer.expert import Observation, Vector
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.infinite_layer.tokens import PredictedWith

NAMES = ("last-value", "difference", "least-squares", "indicators", "seasonal", "leader")

WAITING = 100
"""Events that a learner of an older state predicts as before, while its forecasts learn."""


class PlainForecasts(Part):
    """Mixes an engine's prediction with forecasts that no clip bounds.

    `last-value`; `difference`, the last target and a linear function of the changes of the inputs,
    of the last 12 changes of the target and of that one period ago; `least-squares`, a linear
    function of the inputs; `indicators`, that and an effect of each value of inputs with at most 64
    values, such as the hour as a number; `seasonal`, the last target and the change one period ago,
    where a period of up to 512 events is found; `leader`, the mean of all, weighted by their mean
    |errors| to the power of -n, of n events so far, at most 30. ML-Poly weighs them and the
    engine's own, with other weights while the last target lies beyond what the engine can predict.
    By its rule, a second leader chooses between that mixture and the leader.

    Outliers are kept out: a target beyond the engine's range counts once the next one is there,
    too, large errors count linearly, and forecasts stay near the range of the targets so far.

    Parameters
    ----------
    n_columns
        Number of inputs. Beyond 48, least squares do without them.
    counts_from
        Number of events learned from which on the mixture counts; before, the engine's own does.

    """

    kept = (
        "n_columns", "record", "seasons", "ring", "rules", "n_scored", "ordinary", "leader",
        "choice", "columns", "values", "effects", "times", "theta", "P", "beta", "Q",
    )  # fmt: skip
    fixed = ("record", "seasons", "ring", "rules", "n_scored", "ordinary", "leader", "choice")

    record: Vector
    seasons: Vector
    ring: Vector
    rules: Vector
    n_scored: Vector
    ordinary: Vector
    leader: Vector
    choice: Vector
    columns: Vector
    values: Vector
    effects: Vector
    times: Vector
    theta: Vector
    P: Vector
    beta: Vector
    Q: Vector

    def __init__(self, n_columns: int = 0, counts_from: int = 0) -> None:
        self.n_columns = n_columns
        self.record = np.zeros(kernels.N_RECORD)
        self.begin()
        self.record[kernels.COUNTS_FROM] = counts_from

    def begin(self) -> None:
        """Forget everything; columns stay."""
        self.record = np.zeros(kernels.N_RECORD)
        self.seasons = np.zeros(kernels.LONGEST + 1)
        self.ring = np.zeros(2 * kernels.RING)
        self.rules = np.zeros((2, 4, N_FORECASTS))
        self.n_scored, self.ordinary = np.zeros(2), np.zeros(2)
        self.leader, self.choice = np.zeros(2 + 2 * kernels.LEADER), np.zeros(6)
        self._begin_linear()

    def _begin_linear(self) -> None:
        d, D, E = self._sizes
        self.columns = np.zeros((7, d))
        self.values, self.effects, self.times = np.zeros((3, d, kernels.FEW))
        self.theta, self.beta = np.zeros(D), np.zeros(E)
        self.P, self.Q = _without_data(D, 0), _without_data(E, 1)
        self._gather()

    @property
    def _sizes(self) -> tuple[int, int, int]:
        """Numbers of columns that count, and of features, rounded up."""
        d = self.n_columns if self.n_columns <= kernels.MOST_COLUMNS else 0
        lanes = kernels.LANES
        return d, -(-(kernels.FIXED + d) // lanes) * lanes, -(-(1 + d) // lanes) * lanes

    def _gather(self) -> None:
        """Move all into one array, which is passed to compiled functions in their stead."""
        d, D, E = self._sizes
        self._look = np.zeros(kernels.N_LOOK)
        parts = PlainState(
            self.record, self.seasons, self.ring, self.rules, self.n_scored, self.ordinary,
            self.leader, self.choice, self.columns, self.values, self.effects, self.times,
            self.theta, self.P, self.beta, self.Q, self._look, np.zeros(D), np.zeros(E),
            np.zeros(d), np.zeros(D),
        )  # fmt: skip
        self.array = np.concatenate([part.ravel() for part in parts])
        ends = np.cumsum([part.size for part in parts])[:-1]
        views: list[Any] = [
            flat.reshape(part.shape)
            for flat, part in zip(np.split(self.array, ends), parts, strict=True)
        ]
        (
            self.record, self.seasons, self.ring, self.rules, self.n_scored, self.ordinary,
            self.leader, self.choice, self.columns, self.values, self.effects, self.times,
            self.theta, self.P, self.beta, self.Q, self._look, self._phi, *_,
        ) = views  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copies have their own arrays."""
        self.__dict__.update(state)
        self._gather()

    def widen(self, n_columns: int) -> None:
        """Make room for new columns."""
        before, *_ = self._sizes
        self.n_columns += n_columns
        d, D, E = self._sizes
        if d < before:
            self._begin_linear()
            return
        self.columns = np.pad(self.columns, [(0, 0), (0, d - before)])
        for name in ("values", "effects", "times"):
            setattr(self, name, np.pad(getattr(self, name), [(0, d - before), (0, 0)]))
        self.theta = np.pad(self.theta, (0, D - len(self.theta)))
        self.beta = np.pad(self.beta, (0, E - len(self.beta)))
        self.P, self.Q = _widened(self.P, D, 0), _widened(self.Q, E, 1)
        self._gather()

    def predict(self, row: Vector, own: float, center: float, unit: float) -> float:
        """Return the mixture for the raw row, given the engine's prediction and the target's scale.

        It is the engine's where it does not count, or is broken: see `is_sound`.
        """
        found: float = kernels.mix_forecasts(row, own, center, unit, self.array, self.n_columns)
        return found

    @property
    def is_sound(self) -> bool:
        """Whether the last mixture was finite."""
        return math.isfinite(self._look[kernels.MIXTURE])

    def outputs(self, center: float, unit: float) -> list[float]:
        """Return the last forecasts, the engine's first, on the target's scale."""
        with np.errstate(all="ignore"):
            found: list[float] = ((self._look[:N_FORECASTS] - center) / unit).tolist()
        return found

    def score(self, seen: PredictedWith) -> None:
        """Let the forecasts of that time be scored by the next target, if they are known."""
        with np.errstate(all="ignore"):
            found = seen.center + seen.unit * seen.outputs[-N_FORECASTS:]
        if np.isfinite(found).all():
            self._look[LATE] = 1.0
            self._look[SCORED : SCORED + N_FORECASTS] = found

    def delayed(self, delay: int) -> None:
        """Note how many labels came since the prediction of the event that is learned next."""
        self._look[kernels.DELAYED] = delay

    def final(self, center: float, unit: float) -> float:
        """Return the mixture that is scored next, on the target's scale."""
        found = self._look[kernels.FINAL]
        if self._look[LATE]:
            found = self.weights(center, unit) @ self._look[SCORED : SCORED + N_FORECASTS]
        return float((found - center) / unit)

    def learning(self, event: Observation, *, squared: bool) -> Step:
        """Return the call that learns the event, by the target's scale of its prediction."""
        at = event.at
        numbers = at.y, at.weight, at.center, at.unit
        arguments = event.row, *numbers, self.array, self.n_columns, squared
        return Call(kernels.learn_forecasts, arguments)

    def weights(self, center: float, unit: float) -> Vector:
        """Return the weights (7,) in the next prediction, the engine's own first."""
        count, raw = self.record[kernels.COUNT], self.record[kernels.RAW]
        far = abs(raw - center) >= kernels.FAR * unit
        rule: Vector = self.rules[int(far and self.n_scored[1] > 0.0), WEIGHT]
        total = rule.sum()
        if not (total > 0.0 and count >= self.record[kernels.COUNTS_FROM]):
            own: Vector = np.eye(N_FORECASTS)[kernels.OWN]
            return own
        led, mixed = (0.0, 1.0) if far else self.choice[2:4] / self.choice[2:4].sum()
        weights: Vector = mixed * rule / total + led * np.eye(N_FORECASTS)[kernels.LEADER]
        return weights

    def shares(self, weights: Mapping[str, float], center: float, unit: float) -> dict[str, float]:
        """Return the weights of the engine's experts and of these in the next prediction."""
        own, *others = self.weights(center, unit).tolist()
        found = {name: own * weight for name, weight in weights.items()}
        return found | dict(zip(NAMES, others, strict=True))

    def frozen(self, center: float, unit: float) -> dict[str, Any]:
        """Return what `FrozenRegressor` computes the last prediction by, after `predict`."""
        d, fixed = self.columns.shape[1], kernels.FIXED
        slopes = np.stack([self.theta[fixed : fixed + d], self.beta[1 : 1 + d]])
        last, seasonal = self._look[[kernels.LAST, kernels.SEASONAL]].tolist()
        low, high = self.record[[kernels.LOW, kernels.HIGH]].tolist()
        reach = kernels.REACH * (high - low) if self.record[kernels.COUNT] >= 2.0 else np.inf
        change = self._phi[:fixed] @ self.theta[:fixed] - slopes[0] @ self.columns[kernels.PRESENT]
        level = self.record[kernels.FIRST] + self.beta[0]
        return {
            "columns": self.columns,
            "values": self.values,
            "effects": self.effects,
            "slopes": slopes,
            "offsets": np.array([last + change, level]),
            "range": np.array([low - reach, high + reach]),
            "last": last,
            "seasonal": seasonal,
            "leader": self.leader[2 : 2 + kernels.LEADER],
            "weights": self.weights(center, unit),
        }

    def reinitialise(self, broken: Collection[str]) -> None:
        """Begin anew."""
        self.begin()

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._gather()


def _without_data(size: int, which: int) -> Vector:
    return np.eye(size) / kernels.PENALTIES[which]


def _widened(covariance: Vector, size: int, which: int) -> Vector:
    wider = _without_data(size, which)
    wider[: len(covariance), : len(covariance)] = covariance
    return wider
