"""Online learning for streams with infinite-layer networks."""

from iln_stream import features
from iln_stream._version import __version__
from iln_stream.errors import IlnError, IlnWarning
from iln_stream.learners import (
    Estimate,
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    Pool,
    RandomFeatureRidge,
    ScaledTarget,
    ShrinkingGradient,
    Update,
    WinsorisedScaler,
    features_wanted,
)

__all__ = [
    "Estimate",
    "IlnError",
    "IlnWarning",
    "InfiniteLayerClassifier",
    "InfiniteLayerRegressor",
    "Pool",
    "RandomFeatureRidge",
    "ScaledTarget",
    "ShrinkingGradient",
    "Update",
    "WinsorisedScaler",
    "__version__",
    "features",
    "features_wanted",
]
