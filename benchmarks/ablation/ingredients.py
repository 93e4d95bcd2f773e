"""Learners that lack one ingredient each."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from iln_stream import InfiniteLayerRegressor
from iln_stream.learners.infinite_layer.engine import FIRST_LEVEL, SECOND_LEVEL, Engine
from iln_stream.learners.infinite_layer.feature_resampler import NEVER
from iln_stream.learners.infinite_layer.ml_poly import MLPoly


class Lacking(InfiniteLayerRegressor):
    """The accurate profile without one ingredient of its engine."""

    def __init__(self, seed: int, spoil: Callable[[Engine], None]) -> None:
        super().__init__(seed=seed)
        self.spoil = spoil
        assert isinstance(self._engine, Engine)
        spoil(self._engine)

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        super().learn_one(x, y)
        assert isinstance(self._engine, Engine)
        self.spoil(self._engine)


def _silence(rule: MLPoly, names: tuple[str, ...], left_out: tuple[str, ...]) -> None:
    """Set the weight of some experts to 0."""
    places = [names.index(name) for name in left_out]
    rule.weights[places] = 0.0
    if rule.weights.sum() == 0.0:
        rule.weights[:] = 1.0
        rule.weights[places] = 0.0


def experts(*left_out: str) -> Callable[[Engine], None]:
    """Return a function that silences experts, for either rule."""
    first = tuple(name for name in left_out if name in FIRST_LEVEL)
    second = tuple(name for name in left_out if name in SECOND_LEVEL)

    def spoil(engine: Engine) -> None:
        _silence(engine.mean, FIRST_LEVEL, first)
        _silence(engine.final, SECOND_LEVEL, second)

    return spoil


def redraws(engine: Engine) -> None:
    """Never redraw units."""
    engine.redraws.next_at = NEVER


def relevance(engine: Engine) -> None:
    """Draw units from the first prior and one gradient; weigh inputs about alike in distances."""
    engine.ridges.outer[:] = np.eye(engine.ridges.outer.shape[1])


def late_redraws(engine: Engine) -> None:
    """Draw no units once the memory has lost history."""
    engine.ridges.experts = tuple(e._replace(renewed=False) for e in engine.ridges.experts)


def huber(engine: Engine) -> None:
    """Let errors of the ridges, but not the tracker's, count by their squares however large."""
    engine.ridges.huber = engine.linear.huber = 1e12


def nothing(engine: Engine) -> None:
    """Leave the learner as it is."""


INGREDIENTS: dict[str, Callable[[Engine], None]] = {
    "nothing": nothing,
    "redraws": redraws,
    "relevance": relevance,
    "redraws after 2,048 events": late_redraws,
    "Huber weights": huber,
    "dense, tracker": experts("dense", "tracker"),
    "tracker": experts("tracker"),
    "sparse": experts("sparse"),
    "recent": experts("recent"),
    "linear-recent, last": experts("linear-recent", "last"),
    "linear, linear-fast": experts("linear", "linear-fast"),
    "first-order": experts("first-order"),
    "median": experts("median"),
    "neighbours": experts("neighbours"),
    "standing": experts("standing"),
}
