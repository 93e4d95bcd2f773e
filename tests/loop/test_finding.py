"""`find_reporter`: finds the reporting learner inside pipelines and wrappers."""

import pytest
from river import compose, ensemble, linear_model, preprocessing

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.reporting import Reporting, find_metrics, find_reporter


@pytest.mark.parametrize(
    "learner",
    [
        ShrinkingGradient(seed=1),
        InfiniteLayerRegressor(seed=1),
        InfiniteLayerRegressor("fast", seed=1),
        InfiniteLayerClassifier(seed=1),
        RandomFeatureRidge(seed=1),
    ],
)
def test_each_learner_of_ours_reports(learner):
    """Each of our learners implements the protocol, and its metrics have unique names."""
    assert isinstance(learner, Reporting)
    assert find_reporter(learner) is learner
    names = [spec.name for spec in learner.metrics()]
    names += [flag.metric for flag in learner.flags]
    assert len(names) == len(set(names))
    for spec in learner.metrics():
        assert (spec.kind == "counter") == spec.name.endswith("_total")
        spec.read()


def test_found_through_pipelines_and_wrappers():
    """The reporter is found at any depth; River's own learners have none."""
    inner = ShrinkingGradient(seed=1)
    scaled = preprocessing.TargetStandardScaler(inner)
    for model in (
        compose.Pipeline(WinsorisedScaler(), inner),
        ScaledTarget(WinsorisedScaler() | inner),
        preprocessing.StandardScaler() | scaled,
    ):
        assert find_reporter(model) is inner
    assert find_reporter(preprocessing.StandardScaler() | linear_model.LinearRegression()) is None


def test_the_outermost_counts():
    """The outermost reporter is used, so a mixture reports its experts' metrics once."""
    mixture = InfiniteLayerRegressor(seed=1)
    assert find_reporter(WinsorisedScaler() | mixture) is mixture
    names = [spec.name for spec in mixture.metrics()]
    assert {"iln_alpha_l1", "iln_shrinks_total"} < set(names)
    assert [flag.metric for flag in mixture.flags] == ["iln_shrink_frequency"]


def test_a_template_does_not_report():
    """The template in an ensemble's `model` never learns, so it must not report."""
    bagging = ensemble.BaggingRegressor(InfiniteLayerRegressor("fast", seed=1), n_models=2, seed=1)
    assert find_reporter(bagging) is None


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_inputs_that_any_part_leaves_out_are_counted():
    """A scaler drops names before the learner sees them; they count as if the learner had."""
    model = ScaledTarget(WinsorisedScaler(max_columns=2) | ShrinkingGradient(seed=1))
    for i in range(5):
        model.learn_one({"a": 1.0, f"id {i}": 1.0}, 1.0)
    found = {spec.name: spec for spec in find_metrics(model)}
    assert found["iln_inputs_overflowed_total"].read() == 4
    assert "iln_alpha_l1" in found
    assert (
        list(find_metrics(preprocessing.StandardScaler() | linear_model.LinearRegression())) == []
    )
