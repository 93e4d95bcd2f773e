"""`find_reporter`: finds the reporting learner inside pipelines and wrappers."""

import pytest
from river import compose, ensemble, linear_model, preprocessing

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.reporting import find_metrics, find_reporter


def test_found_through_pipelines_and_wrappers():
    """The outermost reporter is found at any depth; River's own learners have none, and an
    ensemble's template, which never learns, does not report."""
    inner = ShrinkingGradient(seed=1)
    scaled = preprocessing.TargetStandardScaler(inner)
    for model in (
        compose.Pipeline(WinsorisedScaler(), inner),
        ScaledTarget(WinsorisedScaler() | inner),
        preprocessing.StandardScaler() | scaled,
    ):
        assert find_reporter(model) is inner
    assert find_reporter(preprocessing.StandardScaler() | linear_model.LinearRegression()) is None
    mixture = InfiniteLayerRegressor("fast", seed=1)
    assert find_reporter(WinsorisedScaler() | mixture) is mixture
    assert find_reporter(ensemble.BaggingRegressor(mixture, n_models=2, seed=1)) is None


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
