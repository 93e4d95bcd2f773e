"""River's own checks, every one, on every estimator that we export."""

import warnings

import pytest
from river import checks

from iln_stream.errors import IlnWarning
from iln_stream.learners import (
    ChangeOfTarget,
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    RandomFeatureRidge,
    RatioToLevel,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
)
from iln_stream.learners.contest import ContestClassifier, ContestRegressor
from iln_stream.learners.keyed.regressor import KeyedRegressor

MODELS = [
    estimator(**next(iter(estimator._unit_test_params())))
    for estimator in (
        ScaledTarget,
        ChangeOfTarget,
        RatioToLevel,
        WinsorisedScaler,
        InfiniteLayerRegressor,
        InfiniteLayerClassifier,
        RandomFeatureRidge,
        KeyedRegressor,
        ContestRegressor,
        ContestClassifier,
    )
] + [
    InfiniteLayerRegressor("fast", seed=1, loss="squared"),
    ChangeOfTarget(InfiniteLayerRegressor("fast", seed=1), "x"),
    ShrinkingGradient(draws=50, seed=1),
    ShrinkingGradient(estimator="pool", step=0.5, seed=1),
    ScaledTarget(WinsorisedScaler() | ShrinkingGradient(budget=50, max_draws=100, seed=1)),
]


@pytest.mark.parametrize(
    ("model", "check"),
    [
        pytest.param(
            model,
            check,
            id=f"{k}-{type(model).__name__}:{check.__name__}-{n}",
            marks=pytest.mark.thorough if isinstance(model, ContestClassifier) else (),
        )
        for k, model in enumerate(MODELS)
        for n, check in enumerate(checks.yield_checks(model))
    ],
)
def test_contract(model, check):
    """The model works wherever a River regressor or transformer does."""
    model = model.clone()
    if check.__name__ in model._unit_test_skips():  # a class that is alone is not certain
        model.learn_one({}, "one")
        model.learn_one({}, "two")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IlnWarning)  # the checks' targets are not scaled
        check(model)


@pytest.mark.parametrize(
    "kind", [InfiniteLayerRegressor, InfiniteLayerClassifier, ShrinkingGradient]
)
def test_a_clone_with_attributes(kind):
    """A clone that keeps what was learned predicts like the model and goes on alone, also in a
    pipeline; it can't have other parameters."""
    model = WinsorisedScaler() | kind(seed=1)
    for t in range(20):
        model.learn_one({"a": float(t % 7)}, t % 3 > 0)
    predict = "predict_proba_one" if kind is InfiniteLayerClassifier else "predict_one"
    clone = model.clone(include_attributes=True)
    before = getattr(model, predict)({"a": 2.5})
    assert getattr(clone, predict)({"a": 2.5}) == before
    clone.learn_one({"a": 2.5}, True)
    assert getattr(model, predict)({"a": 2.5}) == before
    with pytest.raises(ValueError, match="leave out include_attributes"):
        kind(seed=1).clone({"seed": 2}, include_attributes=True)
