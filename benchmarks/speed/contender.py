"""A learner in a comparison: a name and a factory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from river import base

Step: TypeAlias = Callable[[dict[str, float], float], float]
"""Function that predicts an event, then learns it, and returns the prediction."""


@dataclass(frozen=True)
class Contender:
    """A learner in a comparison.

    Parameters
    ----------
    name
        What the table calls it.
    start
        Returns a newborn learner's step.

    """

    name: str
    start: Callable[[], Step]


def river_step(model: base.Regressor) -> Step:
    """Return the step of a River regressor: predict_one, then learn_one."""
    predict_one, learn_one = model.predict_one, model.learn_one

    def step(x: dict[str, float], y: float) -> float:
        y_pred: float = predict_one(x)
        learn_one(x, y)
        return y_pred

    return step
