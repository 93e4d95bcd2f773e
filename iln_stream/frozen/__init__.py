"""Learned models that only predict, and need nothing else of this package.

Names are imported on first use: a frozen learner is read and predicts with NumPy only.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from iln_stream.frozen.freezing import freeze
    from iln_stream.frozen.freezing_learners import freeze_learner
    from iln_stream.frozen.infinite_layer.models import FrozenClassifier, FrozenRegressor
    from iln_stream.frozen.network import FrozenNetwork

__all__ = ["FrozenClassifier", "FrozenNetwork", "FrozenRegressor", "freeze", "freeze_learner"]

_MODULES = {
    "FrozenClassifier": "infinite_layer.models",
    "FrozenNetwork": "network",
    "FrozenRegressor": "infinite_layer.models",
    "freeze": "freezing",
    "freeze_learner": "freezing_learners",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(f"iln_stream.frozen.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'iln_stream.frozen' has no attribute {name!r}")
