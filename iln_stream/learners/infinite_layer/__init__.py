"""Experts on random features with a learned prior, and the models built from them."""

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import (
    RandomFeatureRidge,
    features_wanted,
)
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

__all__ = [
    "InfiniteLayerClassifier",
    "InfiniteLayerRegressor",
    "RandomFeatureRidge",
    "features_wanted",
]
