"""River estimators that learn infinite-layer networks; names are imported on first use."""

from typing import TYPE_CHECKING, Any

from iln_stream.lazy import imported_on_use

if TYPE_CHECKING:
    from iln_stream.learners.estimators import (
        Averaged,
        Block,
        Estimate,
        Exact,
        Full,
        GrowingPool,
        Pool,
        Sampled,
    )
    from iln_stream.learners.infinite_layer import (
        InfiniteLayerClassifier,
        InfiniteLayerRegressor,
        RandomFeatureRidge,
        features_wanted,
    )
    from iln_stream.learners.infinite_layer.base import background_of
    from iln_stream.learners.introspection import find_shrinking_gradient
    from iln_stream.learners.preprocessing.change_of_target import ChangeOfTarget, RatioToLevel
    from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
    from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
    from iln_stream.learners.quantiles import QuantileRegressor
    from iln_stream.learners.restoring import (
        RestorableLearner,
        broken_numbers,
        model_of,
        restorable,
        some_of,
        state_of,
        unserializable_parameters,
    )
    from iln_stream.learners.shrinking_gradient import ShrinkingGradient, Update

__all__ = [
    "Averaged",
    "Block",
    "ChangeOfTarget",
    "Estimate",
    "Exact",
    "Full",
    "GrowingPool",
    "InfiniteLayerClassifier",
    "InfiniteLayerRegressor",
    "Pool",
    "QuantileRegressor",
    "RandomFeatureRidge",
    "RatioToLevel",
    "RestorableLearner",
    "Sampled",
    "ScaledTarget",
    "ShrinkingGradient",
    "Update",
    "WinsorisedScaler",
    "background_of",
    "broken_numbers",
    "features_wanted",
    "find_shrinking_gradient",
    "model_of",
    "restorable",
    "some_of",
    "state_of",
    "unserializable_parameters",
]

_NAMES = {
    "estimators": (
        *("Averaged", "Block", "Exact", "Full", "GrowingPool", "Pool", "Sampled"),
        "Estimate",
    ),
    "infinite_layer": (
        *("InfiniteLayerClassifier", "InfiniteLayerRegressor", "RandomFeatureRidge"),
        "features_wanted",
    ),
    "infinite_layer.base": ("background_of",),
    "introspection": ("find_shrinking_gradient",),
    "preprocessing.change_of_target": ("ChangeOfTarget", "RatioToLevel"),
    "preprocessing.scaled_target": ("ScaledTarget",),
    "preprocessing.winsorised_scaler": ("WinsorisedScaler",),
    "quantiles": ("QuantileRegressor",),
    "shrinking_gradient": ("ShrinkingGradient", "Update"),
    "restoring": __all__,  # all others
}


def __getattr__(name: str) -> Any:
    return imported_on_use(__name__, _NAMES, name)
