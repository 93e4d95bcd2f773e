"""Online learning for streams with infinite-layer networks."""

from iln_stream import features
from iln_stream._version import __version__
from iln_stream.errors import IlnError, IlnWarning
from iln_stream.frozen import FrozenNetwork, freeze
from iln_stream.learners import (
    Block,
    Estimate,
    Exact,
    Full,
    GrowingPool,
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    Pool,
    RandomFeatureRidge,
    Sampled,
    ScaledTarget,
    ShrinkingGradient,
    Update,
    WinsorisedScaler,
    features_wanted,
)

__all__ = [
    "Block",
    "Estimate",
    "Exact",
    "FrozenNetwork",
    "Full",
    "GrowingPool",
    "IlnError",
    "IlnWarning",
    "InfiniteLayerClassifier",
    "InfiniteLayerRegressor",
    "Pool",
    "RandomFeatureRidge",
    "Sampled",
    "ScaledTarget",
    "ShrinkingGradient",
    "Update",
    "WinsorisedScaler",
    "__version__",
    "features",
    "features_wanted",
    "freeze",
]
