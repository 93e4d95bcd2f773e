"""Learners that can be published."""

from collections.abc import Callable
from typing import Any

from river import preprocessing

from iln_stream import (
    ChangeOfTarget,
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    RandomFeatureRidge,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
)

LEARNERS: dict[str, Callable[[], Any]] = {
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
    "fast": lambda: InfiniteLayerRegressor(profile="fast", seed=1),
    "single-ridge": lambda: RandomFeatureRidge(seed=1),
    "classes": lambda: InfiniteLayerClassifier(seed=1),
    "shrinking-gradient": lambda: WinsorisedScaler() | ShrinkingGradient(seed=1, budget=100),
    "scaled-pipeline": lambda: ScaledTarget(
        WinsorisedScaler() | ShrinkingGradient(seed=1, budget=100)
    ),
    "scaled-accurate": lambda: ScaledTarget(InfiniteLayerRegressor(seed=1)),
    "change": lambda: ChangeOfTarget(InfiniteLayerRegressor("fast", seed=1), "a"),
    "pickled-pipeline": lambda: preprocessing.StandardScaler() | InfiniteLayerRegressor("fast", 1),
}
"""Each kind of learner by name; the last one has no state and is pickled."""
