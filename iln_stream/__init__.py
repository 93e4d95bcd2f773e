"""Online learning for streams with infinite-layer networks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from iln_stream import features
from iln_stream._version import __version__
from iln_stream.errors import IlnError, IlnWarning
from iln_stream.frozen import FrozenNetwork, freeze
from iln_stream.learners import (
    Averaged,
    Block,
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
    WinsorisedScaler,
    features_wanted,
    restorable,
)

if TYPE_CHECKING:
    from iln_stream.events import Event
    from iln_stream.prequential import Listener, PrequentialLoop
    from iln_stream.snapshots import load
    from iln_stream.streams import Record, Sink, Source

__all__ = [
    "Averaged",
    "Block",
    "Event",
    "Exact",
    "FrozenNetwork",
    "Full",
    "GrowingPool",
    "IlnError",
    "IlnWarning",
    "InfiniteLayerClassifier",
    "InfiniteLayerRegressor",
    "Listener",
    "Pool",
    "PrequentialLoop",
    "RandomFeatureRidge",
    "Record",
    "Sampled",
    "ScaledTarget",
    "ShrinkingGradient",
    "Sink",
    "Source",
    "WinsorisedScaler",
    "__version__",
    "features",
    "features_wanted",
    "freeze",
    "load",
    "restorable",
]

_IMPORTED_ON_FIRST_USE = {
    "Event": "iln_stream.events",
    "Listener": "iln_stream.prequential",
    "PrequentialLoop": "iln_stream.prequential",
    "Record": "iln_stream.streams",
    "Sink": "iln_stream.streams",
    "Source": "iln_stream.streams",
    "load": "iln_stream.snapshots",
}
"""Names that only a stream needs, with their modules: learners alone load none of these."""


def __getattr__(name: str) -> Any:
    if name in _IMPORTED_ON_FIRST_USE:
        return getattr(import_module(_IMPORTED_ON_FIRST_USE[name]), name)
    raise AttributeError(f"module 'iln_stream' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
