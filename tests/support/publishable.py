"""Learners that can be published."""

from collections.abc import Callable
from typing import Any

from river import preprocessing

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.change_of_target import ChangeOfTarget, RatioToLevel
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

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
    "ratio": lambda: RatioToLevel(InfiniteLayerRegressor("fast", seed=1), "a", "b"),
    "pickled-pipeline": lambda: preprocessing.StandardScaler() | InfiniteLayerRegressor("fast", 1),
}
"""Each kind of learner by name; the last one has no state and is pickled."""
