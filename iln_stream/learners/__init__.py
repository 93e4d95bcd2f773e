"""River regressors that learn infinite-layer networks."""

from iln_stream.learners.estimators import Estimate, Pool
from iln_stream.learners.infinite_layer import InfiniteLayerRegressor
from iln_stream.learners.introspection import find_shrinking_gradient
from iln_stream.learners.scaled_target import ScaledTarget
from iln_stream.learners.shrinking_gradient import ShrinkingGradient, Update
from iln_stream.learners.winsorised_scaler import WinsorisedScaler

__all__ = [
    "Estimate",
    "InfiniteLayerRegressor",
    "Pool",
    "ScaledTarget",
    "ShrinkingGradient",
    "Update",
    "WinsorisedScaler",
    "find_shrinking_gradient",
]
