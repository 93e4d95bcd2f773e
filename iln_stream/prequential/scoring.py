"""How an event is scored, whatever the learner."""

from collections.abc import Callable
from typing import Any, TypeAlias

from iln_stream.learners import (
    InfiniteLayerRegressor,
    ShrinkingGradient,
    find_infinite_layer,
    find_shrinking_gradient,
)

Scoring: TypeAlias = Callable[[float, float], tuple[float, bool]]
"""From y_pred and y, which was just learned: the loss, and whether Algorithm 1 shrank."""

# Squares are products: they overflow to inf, where ** raises.


def scoring_of(learner: Any) -> Scoring:
    """Return what scores a learner's events: chosen once, as it is called on each of them.

    The loss is half the squared error on the learner's own target scale where it tells that scale,
    else in y's units. A learner that finds its scale as it goes has loss 0 on the first event.
    """
    algorithm_1 = find_shrinking_gradient(learner)
    if (mixture := find_infinite_layer(learner)) is not None:
        return _of_mixture(mixture, algorithm_1)
    return _of_any if algorithm_1 is None else _of_algorithm_1(algorithm_1)


def _of_any(y_pred: float, y: float) -> tuple[float, bool]:
    error = y_pred - y
    return error * error / 2, False


def _of_algorithm_1(learner: ShrinkingGradient) -> Scoring:
    def score(y_pred: float, y: float) -> tuple[float, bool]:
        update = learner.last_update
        if update is None:  # what is around it kept the event from it
            return _of_any(y_pred, y)
        return update.loss, update.shrunk

    return score


def _of_mixture(mixture: InfiniteLayerRegressor, first_order: ShrinkingGradient | None) -> Scoring:
    def score(y_pred: float, y: float) -> tuple[float, bool]:
        # Of one label there is no scale; in y's units its error could outweigh all that follow.
        error = (y_pred - y) / mixture.target_unit if mixture.n_learned > 1 else 0.0
        update = None if first_order is None else first_order.last_update
        return error * error / 2, update is not None and update.shrunk

    return score
