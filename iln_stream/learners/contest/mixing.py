"""The mixture of all contenders, their scores, and its interval."""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, log
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from iln_stream.state import StateDict

if TYPE_CHECKING:
    from iln_stream.learners.infinite_layer.mixing import LogLossRule, MLPoly


class ContenderScores:
    """Sums over all events, and the last `window` values."""

    __slots__ = ("errors", "losses", "n", "total_error", "total_loss")

    def __init__(self, window: int) -> None:
        self.n = 0
        self.total_error = self.total_loss = 0.0
        self.errors: deque[float] = deque(maxlen=window)
        self.losses: deque[float] = deque(maxlen=window)

    def add(self, error: float, loss: float) -> None:
        """Score one event."""
        self.n += 1
        self.total_error += error
        self.total_loss += loss
        self.errors.append(error)
        self.losses.append(loss)

    @property
    def running_error(self) -> float:
        """Mean error of all scored events; nan before the first."""
        return self.total_error / self.n if self.n else float("nan")

    @property
    def running_loss(self) -> float:
        """Mean loss of all scored events; nan before the first."""
        return self.total_loss / self.n if self.n else float("nan")

    @property
    def windowed_error(self) -> float:
        """Mean error in the window; nan if it is empty."""
        return _mean(self.errors)

    @property
    def windowed_loss(self) -> float:
        """Mean loss in the window; nan if it is empty."""
        return _mean(self.losses)

    def state(self) -> StateDict:
        """Return sums and window."""
        return {
            "n": self.n,
            "total_error": self.total_error,
            "total_loss": self.total_loss,
            "errors": np.array(self.errors, np.float64),
            "losses": np.array(self.losses, np.float64),
        }

    def restore(self, state: StateDict) -> None:
        """Go on from a state; its window may be longer or shorter."""
        self.n = state["n"]
        self.total_error, self.total_loss = state["total_error"], state["total_loss"]
        self.errors = deque(state["errors"].tolist(), self.errors.maxlen)
        self.losses = deque(state["losses"].tolist(), self.losses.maxlen)


def _mean(values: deque[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


SCALE = 4.0
"""The interval is tightest for sums of about eight times this variance."""

HALVINGS = 40
"""Of the part of [-1, 1] that contains an end."""

NEAREST = 1e-5
GROWTH = 1.25
"""An end is looked for at this distance from the mean difference, then at 1.25 times it, ..."""


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """The means for which a sum is inside Robbins' boundary."""

    # n, total: number of events and the sum of their differences, each in [-1, 1]
    n: int
    total: float
    # Estimates (a, b, c): the variance of the sum about a mean m is a - 2bm + cm^2. The largest
    # counts.
    variances: Sequence[tuple[float, float, float]]
    error: float  # probability that the interval misses the mean at any n

    def excludes(self, mean: float) -> bool:
        """Whether a mean is outside."""
        variance = SCALE + max(a - 2.0 * b * mean + c * mean * mean for a, b, c in self.variances)
        distance = self.total - self.n * mean
        return distance * distance > variance * log(variance / (SCALE * self.error * self.error))

    @property
    def lower(self) -> float:
        """The lower end; -1 if all smaller means are inside.

        The variance about a mean grows with its distance, so means far away may be inside again:
        the ends are those of the part around the mean difference.
        """
        return self._end(-1.0)

    @property
    def upper(self) -> float:
        """The upper end; 1 if all larger means are inside."""
        return self._end(1.0)

    def _end(self, limit: float) -> float:
        mean = self.total / self.n
        inside, step = mean, NEAREST
        while True:
            outside = mean + step if limit > mean else mean - step
            if abs(outside - mean) >= abs(limit - mean):
                outside = limit
            if self.excludes(outside):
                break
            if outside == limit:
                return limit
            inside, step = outside, GROWTH * step
        for _ in range(HALVINGS):
            mean = 0.5 * (inside + outside)
            if self.excludes(mean):
                outside = mean
            else:
                inside = mean
        return outside

    def state(self) -> StateDict:
        """Return the fields."""
        return {
            "n": self.n,
            "total": self.total,
            "variances": [list(abc) for abc in self.variances],
            "error": self.error,
        }

    @classmethod
    def of(cls, state: StateDict) -> Self:
        """Return the interval of a `state()`."""
        variances = [(a, b, c) for a, b, c in state["variances"]]
        return cls(state["n"], state["total"], variances, state["error"])


LEAST = 1e-9
"""Probabilities are at least this when they are scored."""


class Mixing(ABC):
    """Mixes the contenders' predictions, in their order; those that are missing don't count."""

    rule: "MLPoly | LogLossRule"
    """Weighs the contenders."""

    @abstractmethod
    def mix(self, predictions: Sequence[Any]) -> Any:
        """Return the weighted mean; raise ArithmeticError if no contender predicted."""

    @abstractmethod
    def learn(self, predictions: Sequence[Any], mixed: Any, y: Any) -> None:
        """Score these predictions, which were mixed so, by the label."""

    def add(self) -> None:
        """Make room for one contender more, which weighs nothing yet."""
        self.rule.table = np.column_stack([self.rule.table, np.zeros(len(self.rule.table))])

    def remove(self, k: int) -> None:
        """Leave out the k-th contender."""
        self.rule.table = np.delete(self.rule.table, k, axis=1)

    def forget(self, k: int) -> None:
        """Forget the regrets against the k-th contender: it weighs nothing for now."""
        self.rule.table[:, k] = 0.0


class RegressionMixing(Mixing):
    """ML-Poly for the absolute error."""

    def __init__(self, n: int) -> None:
        # Imported here, so that a contest without a mixture does not wait for numba.
        from iln_stream.learners.infinite_layer.mixing import MLPoly

        self.rule: MLPoly = MLPoly(n, squared=False)

    def mix(self, predictions: Sequence[Any]) -> float:
        """Return the weighted mean; raise ArithmeticError if there is none."""
        known = [p.__class__ is float for p in predictions]
        p = np.array([p if ok else 0.0 for p, ok in zip(predictions, known, strict=True)])
        mixed = float(self.rule.mixed_of(p, np.array(known)))
        if isfinite(mixed) and any(known):
            return mixed
        raise ArithmeticError("no contender predicted, so there is nothing to mix")

    def learn(self, predictions: Sequence[Any], mixed: float, y: float) -> None:
        """Score the predictions; missing ones have no regret."""
        p = np.array([p if p.__class__ is float else mixed for p in predictions])
        self.rule.learn(p, mixed, y)


class ClassificationMixing(Mixing):
    """ML-Poly for the log loss, over probabilities."""

    def __init__(self, n: int) -> None:
        from iln_stream.learners.infinite_layer.mixing import LogLossRule

        self.rule: LogLossRule = LogLossRule(n)

    def mix(self, predictions: Sequence[Any]) -> dict[Any, float]:
        weights: list[float] = self.rule.weights.tolist()
        known = [(w, p) for w, p in zip(weights, predictions, strict=True) if _is_known(p)]
        if not known:
            if any(isinstance(p, Mapping) for p in predictions):  # none knows a class yet
                return {}
            raise ArithmeticError("no contender predicted, so there is nothing to mix")
        total = sum(w for w, _ in known)
        mixed: dict[Any, float] = {}
        for weight, p in known:
            share = weight / total if total > 0.0 else 1.0 / len(known)
            for label, probability in p.items():
                mixed[label] = mixed.get(label, 0.0) + share * probability
        return mixed

    def learn(self, predictions: Sequence[Any], mixed: Mapping[Any, float], y: Any) -> None:
        """Score the predictions; missing ones have no regret."""
        if not mixed:
            return
        own = max(mixed.get(y, 0.0), LEAST)
        p = [max(p.get(y, 0.0), LEAST) if _is_known(p) else own for p in predictions]
        self.rule.learn(np.array(p).reshape(-1, 1), np.array([own]), 0)


def _is_known(p: Any) -> bool:
    return isinstance(p, Mapping) and bool(p)
