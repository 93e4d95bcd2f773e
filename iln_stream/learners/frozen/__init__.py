"""Learned models that only predict, and need nothing else of this package.

Names are imported on first use: a frozen learner is read and predicts with NumPy only.
"""

from typing import TYPE_CHECKING, Any

from iln_stream.lazy import imported_on_use

if TYPE_CHECKING:
    from iln_stream.learners.frozen.freezing import freeze, freeze_learner
    from iln_stream.learners.frozen.network import FrozenNetwork
    from iln_stream.learners.frozen.predictors import FrozenClassifier, FrozenRegressor

__all__ = ["FrozenClassifier", "FrozenNetwork", "FrozenRegressor", "freeze", "freeze_learner"]

_NAMES = {
    "freezing": ("freeze", "freeze_learner"),
    "network": ("FrozenNetwork",),
    "predictors": ("FrozenClassifier", "FrozenRegressor"),
}


def __getattr__(name: str) -> Any:
    return imported_on_use(__name__, _NAMES, name)
