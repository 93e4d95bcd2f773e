"""Online learning for streams with infinite-layer networks."""

from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from iln_stream.snapshots import load

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
    "load",
]


def __getattr__(name: str) -> Any:
    """Import `load` when it is first asked for: who only learns needs no snapshots."""
    if name == "load":
        from iln_stream.snapshots import load

        return load
    raise AttributeError(f"module 'iln_stream' has no attribute {name!r}")
