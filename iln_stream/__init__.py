"""Online learning for streams with infinite-layer networks."""

from iln_stream import features
from iln_stream._version import __version__
from iln_stream.errors import IlnError, IlnWarning
from iln_stream.frozen import FrozenNetwork, freeze
from iln_stream.learners import (
    Estimate,
    Pool,
    ScaledTarget,
    ShrinkingGradient,
    Update,
    WinsorisedScaler,
)

__all__ = [
    "Estimate",
    "FrozenNetwork",
    "IlnError",
    "IlnWarning",
    "Pool",
    "ScaledTarget",
    "ShrinkingGradient",
    "Update",
    "WinsorisedScaler",
    "__version__",
    "features",
    "freeze",
]
