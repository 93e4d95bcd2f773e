"""River regressors that learn infinite-layer networks."""

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
from iln_stream.learners.infinite_layer.explained import background_of
from iln_stream.learners.introspection import find_infinite_layer, find_shrinking_gradient
from iln_stream.learners.parameters import unserializable_parameters
from iln_stream.learners.preprocessing.change_of_target import ChangeOfTarget
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.restoring import (
    RestorableLearner,
    broken_numbers,
    model_of,
    restorable,
    some_of,
    state_of,
)
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.learners.shrinking_gradient.update import Update

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
    "RandomFeatureRidge",
    "RestorableLearner",
    "Sampled",
    "ScaledTarget",
    "ShrinkingGradient",
    "Update",
    "WinsorisedScaler",
    "background_of",
    "broken_numbers",
    "features_wanted",
    "find_infinite_layer",
    "find_shrinking_gradient",
    "model_of",
    "restorable",
    "some_of",
    "state_of",
    "unserializable_parameters",
]
