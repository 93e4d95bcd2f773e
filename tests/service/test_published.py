"""`build_publisher`: what a run publishes."""

import json

import pytest
from prometheus_client import CollectorRegistry

from iln_stream.errors import PublishingError
from iln_stream.publishing import Follower
from iln_stream.service import Service, Settings


@pytest.fixture
def run(tmp_path):
    """Return a function that runs the service on a file of 50 events, with these settings."""
    events = ({"x": {"a": n % 7}, "y": n % 7, "id": str(n)} for n in range(50))
    (tmp_path / "e.jsonl").write_text("\n".join(map(json.dumps, events)))

    def start(**values):
        settings = {"source": "e.jsonl", "metrics_port": None, "publish": "models", **values}
        service = Service(Settings(**settings))
        service.run()
        return service

    return start


def test_the_last_version_has_all(run):
    """When a run ends, its last version has learned everything, under the stream's name."""
    service = run(learner_options={"profile": "fast"})
    follower = Follower("models/e.jsonl-0.model")
    assert follower.refresh()
    found = follower.current
    assert (found.n_learned, found.positions) == (50, {0: 50})
    assert (found.task, found.name, found.stream) == ("regression", "infinite-layer", "e.jsonl")
    learner = service.workers[0].learner
    assert found.learner.predict_interval({"a": 3}) == learner.predict_interval({"a": 3})


def test_metrics(run):
    """A run exports the metrics of its publisher."""
    registry = run(learner_options={"profile": "fast"}).registry
    assert isinstance(registry, CollectorRegistry)
    labels = {"model": "e.jsonl/infinite-layer", "partition": "0"}
    version = registry.get_sample_value("iln_published_version", labels)
    assert version == version_at("models/e.jsonl-0.model") >= 1
    assert registry.get_sample_value("iln_publish_failures_total", labels) == 0


def version_at(path):
    follower = Follower(path)
    follower.refresh()
    return follower.current.version


def test_a_learner_that_needs_a_pickle(run):
    """A River learner is refused before the first event, unless pickles are allowed."""
    with pytest.raises(PublishingError, match="snapshot_pickle"):
        run(learner="river.linear_model:LinearRegression")
    run(learner="river.linear_model:LinearRegression", snapshot_pickle=True)
    follower = Follower("models/e.jsonl-0.model", allow_pickle=True)
    assert follower.refresh()


def test_unset(run, tmp_path):
    """Without `publish` nothing is published."""
    run(publish=None)
    assert list(tmp_path.glob("**/*.model")) == []
