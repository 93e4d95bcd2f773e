"""The model's name and version in predictions."""

import pytest

from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.service import Settings
from iln_stream.service.worker import model_name, version_of_settings, version_of_state


@pytest.mark.parametrize(
    "more",
    [{"learner": "pool"}, {"learner_options": {"profile": "fast"}}, {"target": "price"}, {}],
)
def test_version_follows_what_determines_the_learner(more):
    """Another learner, option, mapping or seed has another version; paths and ports do not."""
    version = version_of_settings(Settings(), seed=1)
    assert version_of_settings(Settings(snapshots="s", metrics_port=0, window=5), seed=1) == version
    assert version_of_settings(Settings(**more), seed=1 if more else 2) != version


def test_version_of_a_state():
    """Equal states have one version, and one more event makes another."""
    models = [InfiniteLayerRegressor("fast", seed=1) for _ in range(2)]
    one, other = map(version_of_state, models)
    assert one == other
    models[0].learn_one({"a": 1.0}, 2.0)
    assert version_of_state(models[0]) != one


def test_name():
    """The name is that of the metrics' label `model`."""
    assert model_name(Settings(), "s") == "s/infinite-layer"
    assert model_name(Settings(model="demand"), "s") == "demand"
