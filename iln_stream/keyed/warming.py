"""Letting a model by key do everything once, so that its compiled functions are compiled."""

from typing import Any

from river import base

from iln_stream.keyed.regressor import KeyedRegressor

NAME = "keyed"
"""Name of what a model by key compiles beside its global model."""


def exercise_keys() -> None:
    """Let a model by key predict and learn, and read a key's effects."""
    learner = KeyedRegressor("key", _Nothing())
    for t in range(3):
        x: dict[str, Any] = {"key": "a", "b": float(t)}
        learner.predict_one(x)
        learner.predict_interval(x)
        learner.learn_one(x, float(t))
    learner.effects("a")


class _Nothing(base.Regressor):
    """A global model that compiles nothing."""

    def predict_one(self, x: Any) -> float:
        return 0.0

    def learn_one(self, x: Any, y: float) -> None:
        pass
