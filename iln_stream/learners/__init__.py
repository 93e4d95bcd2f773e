"""River regressors that learn infinite-layer networks."""

from iln_stream.learners.estimators import Estimate, Pool
from iln_stream.learners.infinite_layer import (
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    RandomFeatureRidge,
    features_wanted,
)
from iln_stream.learners.introspection import find_shrinking_gradient
from iln_stream.learners.scaled_target import ScaledTarget
from iln_stream.learners.shrinking_gradient import ShrinkingGradient, Update
from iln_stream.learners.winsorised_scaler import WinsorisedScaler

__all__ = [
    "Estimate",
    "InfiniteLayerClassifier",
    "InfiniteLayerRegressor",
    "Pool",
    "RandomFeatureRidge",
    "ScaledTarget",
    "ShrinkingGradient",
    "Update",
    "WinsorisedScaler",
    "features_wanted",
    "find_shrinking_gradient",
]
