"""Tokens: what an engine computed for an event, as numbers, until its late label comes."""

import math
import zlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import TokenError
from iln_stream.kernels.intervals import LEVELS
from iln_stream.kernels.regression_event import FENCE
from iln_stream.learners.preprocessing.moments import LARGEST_VALUE

Vector = NDArray[np.float64]

CODE, COUNT = range(2)
"""Indices of a token's first numbers: who made it, and after how many learned events."""

PREDICTION, CENTER, UNIT, LAGS = range(2, 6)
"""Indices of the next ones, in a token of a regression engine; the last is where lags begin."""

MOST = 2.0**53
"""Most events that a token can count."""

PATIENCE = 10
"""What was predicted is scored if at most one event in so many was learned since."""

SOON = 200
"""Misses of intervals that were published more events ago count less, in inverse proportion: else
widths would change further and further before the effect of the first change is seen."""

NOTHING = np.float32(3e38)
"""Stands for a packed number that does not exist, and is beyond all that do."""


def code_of(names: Iterable[str]) -> float:
    """Return a number for what an engine consists of: 32 bits of a hash of these names."""
    return float(zlib.crc32(" ".join(names).encode()))


def checked(token: Any, code: float, length: int | None = None) -> tuple[Vector, int]:
    """Return a token's numbers, and the number of events that had been learned when it was made.

    Raises
    ------
    TokenError
        When it is a token of another engine: it has another code, or another length than this.
    ValueError
        When it is no token.

    """
    try:
        numbers = np.ascontiguousarray(token, np.float64)
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if numbers.ndim != 1 or len(numbers) <= COUNT:
        raise ValueError(
            "token must be the one-dimensional array that predict_token returned: "
            "y_pred, token = model.predict_token(x)"
        )
    n = float(numbers[COUNT])
    if numbers[CODE] != code or (length is not None and len(numbers) != length):
        raise TokenError(
            "token is that of another learner, or of a release whose learner has other experts: "
            "pass the token that predict_token of this learner returned, or learn with learn_one"
        )
    if not (0.0 <= n <= MOST and n == int(n)):
        raise ValueError(f"token is damaged: it counts {n} learned events; learn with learn_one")
    return numbers, int(n)


def pack(numbers: Iterable[Any], room: Vector) -> None:
    """Write arrays or lists of numbers, one after the other, to `room`, two in one of its numbers.

    They are rounded to single precision. All that is written is finite: those that are not, or too
    large, become `NOTHING`.
    """
    single, first = room.view(np.float32), 0
    with np.errstate(over="ignore"):
        for each in numbers:
            last = first + len(each)
            single[first:last] = each
            first = last
    single[first:] = 0.0
    sizes = np.abs(single)
    if not sizes.max(initial=0.0) < NOTHING:  # or nan
        single[~(sizes < NOTHING)] = NOTHING


def unpacked(room: Vector) -> Vector:
    """Return what `pack` was given, and perhaps one more; nan for what is broken or `NOTHING`."""
    numbers = room.view(np.float32).astype(np.float64)
    sizes = np.abs(numbers)
    if not sizes.max(initial=0.0) < NOTHING:
        numbers[~(sizes < NOTHING)] = np.nan
    return numbers


class PredictedWith(NamedTuple):
    """What a regression engine computed when it predicted an event."""

    n: int  # number of events learned by then
    prediction: float  # the prediction; nan if it was broken
    # center, unit: the target's scale by then; nan if the prediction was broken
    center: float
    unit: float
    lags: Vector  # the last targets by then, the newest first
    sizes: Vector  # errors that the intervals expected; nan if they were broken
    ends: Vector  # of the intervals around 0, by level, (levels, 2); nan where there was none
    # of the experts, on the target's scale; nan for those that did not count: see `ExpertMixture`
    outputs: Vector

    def shifted(self, by: float) -> "PredictedWith":
        """Return it for targets that are larger by as much."""
        return self._replace(prediction=self.prediction + by, center=self.center + by)

    def known_lags(self, n: int, center: float) -> list[float]:
        """Return the last targets, with the center for those that did not exist or are broken.

        n events are learned now. While there are none, an engine has lags all the same.
        """
        existed = self.n if n > self.n else len(self.lags)
        return [
            lag if i < existed and abs(lag) <= LARGEST_VALUE else center
            for i, lag in enumerate(self.lags.tolist())
        ]

    def counts(self, n: int) -> bool:
        """Return whether intervals and drift learn this prediction's error, n events being learned.

        Before as many labels were known as have come since, predictions were much worse than
        today's: at first there was none.
        """
        return math.isfinite(self.prediction) and n - self.n <= self.n

    def is_recent(self, n: int) -> bool:
        """Return whether outputs are scored, n events being learned: see `scored`."""
        return PATIENCE * (n - self.n) <= self.n

    def published(self, n: int) -> Vector:
        """Return the intervals' ends, and the weight of a miss after n events, (levels, 3)."""
        found = np.full((len(self.ends), 3), min(1.0, SOON / max(n - self.n, 1)))
        found[:, :2] = self.prediction + self.ends
        return found

    def scored(self, n: int, center: float, unit: float) -> Vector | None:
        """Return the outputs on today's scale, or None if today's own say more.

        Outputs show how well an expert does when it knows labels up to that time only; today's
        know those of the events just after. But early in a stream, or after a long delay, they are
        those of an expert that has learned much since.
        """
        if not (self.is_recent(n) and len(self.outputs)):
            return None
        if not (self.unit > 0.0 and math.isfinite(self.center)):
            return None
        outputs = self.outputs
        if (center, unit) != (self.center, self.unit):
            with np.errstate(all="ignore"):
                outputs = np.clip(
                    (self.center + self.unit * outputs - center) / unit, -FENCE, FENCE
                )
        return outputs if np.isfinite(outputs).any() else None


class TokenFormat:
    """How a regression engine's tokens are laid out.

    `names` are of what the engine consists of.
    """

    def __init__(
        self, names: Iterable[str], n_lags: int, n_sizes: int, n_outputs: int, *, intervals: bool
    ) -> None:
        self.n_sizes = n_sizes
        self.n_ends = 2 * len(LEVELS) if intervals else 0
        self.code = code_of(names)
        self._ends = slice(n_sizes, n_sizes + self.n_ends)
        self._outputs = slice(self._ends.stop, self._ends.stop + n_outputs)
        self._room = LAGS + n_lags  # where packed numbers begin
        self.length = self._room + -(-self._outputs.stop // 2)

    def written(
        self,
        n: int,
        prediction: float,
        scale: tuple[float, float],
        lags: Vector,
        sizes: Vector,
        ends: Vector,
        outputs: list[float],
    ) -> Vector:
        """Return a token; `ends` are those of the intervals around the prediction."""
        token = np.empty(self.length)
        token[:LAGS] = self.code, n, prediction, *scale
        token[LAGS : self._room] = lags
        # Away from the prediction by a rounding: a target at the very end stays inside.
        offsets = (ends.ravel() - prediction) * (1.0 + 2.0**-23)
        pack((sizes, offsets, outputs), token[self._room :])
        return token

    @staticmethod
    def shift(token: Vector, by: float) -> None:
        """Make a token that of targets that are larger by as much."""
        token[[PREDICTION, CENTER]] += by

    def read(self, token: Any) -> PredictedWith:
        """Return what a token says.

        Raises
        ------
        ValueError
            As of `checked`.

        """
        numbers, n = checked(token, self.code, self.length)
        prediction, center, unit = numbers[PREDICTION:LAGS].tolist()
        if not abs(prediction) <= 1e3 * LARGEST_VALUE:
            prediction = math.nan
        single = unpacked(numbers[self._room :])
        return PredictedWith(
            n, prediction, center, unit, numbers[LAGS : self._room], single[: self.n_sizes],
            single[self._ends].reshape(-1, 2), single[self._outputs],
        )  # fmt: skip


Array = NDArray[np.float64]

KEPT = 4
"""The most classes whose probabilities are in a token; the others are one class there."""

CLASSES, FIRST = 2, 3
"""Indices of a token's number of classes, and of what follows: the indices of the kept classes,
then their probabilities by each expert."""

LEAST = 1e-9
"""Probabilities are at least this."""


class ClassesPredictedWith(NamedTuple):
    """What a classifier computed when it predicted an event."""

    n: int  # number of events learned by then
    n_classes: int  # C, the number of classes known by then; 0 if the prediction was broken
    kept: list[int]  # indices of the classes with a column, (m,)
    # the experts' probabilities (K, m + 1): the last column is that of all other classes
    experts: Array

    def column(self, label: int) -> int | None:
        """Return the column of a class; None if it could not have been predicted."""
        if label >= self.n_classes or not self.kept:
            return None
        return self.kept.index(label) if label in self.kept else len(self.kept)

    def counts(self, n: int) -> bool:
        """Return whether these are scored, as n events are learned now; see `scored`."""
        return PATIENCE * (n - self.n) <= self.n


class ClassTokenFormat:
    """How a classifier's tokens are laid out.

    A token has 3 + m + m K / 2 numbers, rounded up, for m = min(C - 1, 4): its size is bounded,
    however many classes there are. `names` are of what the engine consists of; it has K experts.
    """

    def __init__(self, names: Iterable[str], n_experts: int) -> None:
        self.code = code_of(names)
        self.n_experts = n_experts

    def written(self, n: int, predicted: Array, experts: Array) -> Array:
        """Return a token of the probabilities predicted (C,), by the experts (K, C)."""
        C = len(predicted)
        kept = np.argsort(-predicted, kind="stable")[: min(C - 1, KEPT)]
        first = FIRST + len(kept)
        token = np.empty(first + -(-len(kept) * self.n_experts // 2))
        token[:FIRST] = self.code, n, C
        token[FIRST:first] = kept
        pack((experts[:, kept].ravel(),), token[first:])
        return token

    def without(self, n: int) -> Array:
        """Return a token of an event without a sound prediction: it has nothing to score."""
        return np.array([self.code, n, 0.0])

    def read(self, token: Any) -> ClassesPredictedWith:
        """Return what a token says.

        Raises
        ------
        ValueError
            As of `token.checked`.

        """
        numbers, n = checked(token, self.code)
        C = float(numbers[CLASSES]) if len(numbers) > CLASSES else math.nan
        m = int(min(max(C - 1.0, 0.0), KEPT)) if math.isfinite(C) else 0
        size = m * self.n_experts
        numbers, _ = checked(numbers, self.code, FIRST + m + -(-size // 2))
        kept = numbers[FIRST : FIRST + m]
        p = unpacked(numbers[FIRST + m :])[:size].reshape(self.n_experts, m)
        indices = ((kept >= 0.0) & (kept < C) & (kept == np.floor(kept))).all()
        if not (indices and len(set(kept.tolist())) == m and np.isfinite(p).all()):
            return ClassesPredictedWith(n, 0, [], np.zeros((self.n_experts, 1)))
        p = np.clip(np.column_stack([p, 1.0 - p.sum(axis=1)]), LEAST, 1.0)
        return ClassesPredictedWith(n, int(C), kept.astype(int).tolist(), p)
