"""Online learning for streams with infinite-layer networks."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from iln_stream._version import __version__
from iln_stream.errors import IlnError, IlnWarning
from iln_stream.kernels.cpu import pin
from iln_stream.lazy import imported_on_use

if TYPE_CHECKING:
    from iln_stream import features
    from iln_stream.learners import (
        Averaged,
        Block,
        ChangeOfTarget,
        Exact,
        Full,
        GrowingPool,
        InfiniteLayerClassifier,
        InfiniteLayerRegressor,
        Pool,
        QuantileRegressor,
        RandomFeatureRidge,
        RatioToLevel,
        Sampled,
        ScaledTarget,
        ShrinkingGradient,
        WinsorisedScaler,
        features_wanted,
        restorable,
    )
    from iln_stream.learners.contest import ContestClassifier, ContestRegressor
    from iln_stream.learners.frozen import FrozenNetwork, freeze
    from iln_stream.learners.keyed import Aggregate, AggregateInputs, KeyedRegressor
    from iln_stream.loop import Listener, PrequentialLoop
    from iln_stream.plotting import plot_predictions, plot_relevance, plot_weights
    from iln_stream.records import Event
    from iln_stream.snapshots import load, save
    from iln_stream.streams import Record, Sink, Source

__all__ = [
    "Aggregate",
    "AggregateInputs",
    "Averaged",
    "Block",
    "ChangeOfTarget",
    "ContestClassifier",
    "ContestRegressor",
    "Event",
    "Exact",
    "FrozenNetwork",
    "Full",
    "GrowingPool",
    "IlnError",
    "IlnWarning",
    "InfiniteLayerClassifier",
    "InfiniteLayerRegressor",
    "KeyedRegressor",
    "Listener",
    "Pool",
    "PrequentialLoop",
    "QuantileRegressor",
    "RandomFeatureRidge",
    "RatioToLevel",
    "Record",
    "RecordInputs",
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
    "plot_predictions",
    "plot_relevance",
    "plot_weights",
    "restorable",
    "save",
]

pin()  # before anything below loads numpy or numba

_NAMES = {
    "learners.contest": ("ContestClassifier", "ContestRegressor"),
    "learners.frozen": ("FrozenNetwork", "freeze"),
    "learners.keyed": ("Aggregate", "AggregateInputs", "KeyedRegressor"),
    "loop": ("Listener", "PrequentialLoop"),
    "plotting": ("plot_predictions", "plot_relevance", "plot_weights"),
    "records": ("Event",),
    "records.record_inputs": ("RecordInputs",),
    "snapshots": ("load", "save"),
    "streams": ("Record", "Sink", "Source"),
    "learners": __all__,  # all others
}
"""Names by module, imported on first use: learners need no stream, and the client no learner."""

_PACKAGES = {"features", "frozen", "learners", "theory"}
"""Modules that are attributes of the package, imported or not."""


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"iln_stream.{name}")
    return imported_on_use(__name__, _NAMES, name)


def __dir__() -> list[str]:
    return sorted(__all__)
