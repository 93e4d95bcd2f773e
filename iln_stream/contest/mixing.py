"""The rules of the default learner over the predictions of contenders."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from iln_stream.learners.infinite_layer.aggregation.log_loss_rule import LogLossRule
    from iln_stream.learners.infinite_layer.aggregation.ml_poly import MLPoly

LEAST = 1e-9
"""Probabilities are at least this when they are scored."""


class Mixing(ABC):
    """Mixes the contenders' predictions, in their order; those that are missing don't count."""

    @property
    @abstractmethod
    def rule(self) -> "MLPoly | LogLossRule":
        """The rule, which weighs the contenders."""

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
    """ML-Poly for the absolute error.

    Parameters
    ----------
    n
        Number of contenders.

    """

    def __init__(self, n: int) -> None:
        # Imported here, so that a contest without a mixture does not wait for numba.
        from iln_stream.learners.infinite_layer.aggregation.ml_poly import MLPoly

        self._rule = MLPoly(n, squared=False)

    @property
    def rule(self) -> "MLPoly":
        """The rule, which weighs the contenders."""
        return self._rule

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
    """ML-Poly for the log loss, over probabilities.

    Parameters
    ----------
    n
        Number of contenders.

    """

    def __init__(self, n: int) -> None:
        from iln_stream.learners.infinite_layer.aggregation.log_loss_rule import LogLossRule

        self._rule = LogLossRule(n)

    @property
    def rule(self) -> "LogLossRule":
        """The rule, which weighs the contenders."""
        return self._rule

    def mix(self, predictions: Sequence[Any]) -> dict[Any, float]:
        """Return the weighted mean; raise ArithmeticError if no contender predicted."""
        known = [(w, p) for w, p in zip(self._weights(), predictions, strict=True) if _is_known(p)]
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

    def _weights(self) -> list[float]:
        return self.rule.weights.tolist()  # type: ignore[no-any-return]


def _is_known(p: Any) -> bool:
    return isinstance(p, Mapping) and bool(p)
