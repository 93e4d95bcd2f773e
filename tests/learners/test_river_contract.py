"""River's own checks, every one, on every estimator that we export and its variants."""

import warnings

import pytest
from river import checks

from iln_stream import (
    IlnWarning,
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    KeyedRegressor,
    RandomFeatureRidge,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
)
from iln_stream.features import Mixture, RandomNetwork, UniformCoordinates

MODELS = [
    estimator(**parameters)
    for estimator in (
        ShrinkingGradient,
        ScaledTarget,
        WinsorisedScaler,
        InfiniteLayerRegressor,
        InfiniteLayerClassifier,
        RandomFeatureRidge,
        KeyedRegressor,
    )
    for parameters in estimator._unit_test_params()
] + [
    ShrinkingGradient(RandomNetwork(), max_draws=200),
    ShrinkingGradient(Mixture((UniformCoordinates(), RandomNetwork())), max_draws=200),
    ScaledTarget(WinsorisedScaler() | ShrinkingGradient(budget=50, max_draws=500, seed=1)),
]


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(model, check, id=f"{k}-{type(model).__name__}:{check.__name__}-{n}")
        for k, model in enumerate(MODELS)
        for n, check in enumerate(checks.yield_checks(model))
    ],
)
def test_contract(model, check):
    """The model works wherever a River regressor or transformer does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IlnWarning)  # the checks' targets are not scaled
        check(model.clone())


def test_nothing_is_skipped():
    """No check of River's is opted out of."""
    assert all(model._unit_test_skips() == set() for model in MODELS)
