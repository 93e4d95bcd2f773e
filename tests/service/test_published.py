"""`build_publisher`: what a run publishes."""

import json

import pytest
from support.embedded_log import append, settings_of

from iln_stream.errors import PublishingError
from iln_stream.service import Service, Settings, promote
from iln_stream.snapshots.follower import Follower


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
    current = follower.current
    found = current.header
    assert (found.n_learned, found.positions) == (50, {("e.jsonl", 0): 50})
    assert (found.task, found.learner, found.stream) == ("regression", "infinite-layer", "e.jsonl")
    assert found.version >= 1
    learner = service.workers[0].learner
    assert current.learner.predict_interval({"a": 3}) == learner.predict_interval({"a": 3})


def test_inputs_of_earlier_records(run):
    """The version names the lags and rolling means that a request has to have."""
    run(learner_options={"profile": "fast"}, target="y", id_field="id", lags={"x.a": 2},
        rolling_means={"x.a": [3]})  # fmt: skip
    follower = Follower("models/e.jsonl-0.model")
    assert follower.refresh()
    assert follower.current.series_inputs == ("x.a.lag_1", "x.a.lag_2", "x.a.mean_3")


def test_a_learner_that_needs_a_pickle(run):
    """A River learner is refused before the first event, unless pickles are allowed."""
    with pytest.raises(PublishingError, match="snapshot_pickle"):
        run(learner="river.linear_model:LinearRegression")
    run(learner="river.linear_model:LinearRegression", snapshot_pickle=True)
    follower = Follower("models/e.jsonl-0.model", allow_pickle=True)
    assert follower.refresh()


def test_the_champion_is_published(tmp_path):
    """Of a contest the champion is published, as if it ran alone; a promotion changes it."""
    log = tmp_path / "log.db"
    append(log, [json.dumps({"x": {"a": n % 7}, "y": n % 7}).encode() for n in range(50)])
    settings = settings_of(
        log,
        publish="models",
        snapshot_pickle=True,
        learner="infinite-layer",
        learner_options={"profile": "fast"},
        challengers={"linear": {"learner": "support.contenders:linear"}},
        mixture=True,
    )

    def published(name):
        promote(settings, name)
        service = Service(settings)
        service.run()
        follower = Follower("models/log-events-0.model", allow_pickle=True)
        assert follower.refresh()
        learner = service.workers[0].learner
        assert follower.current.learner.predict_one({"a": 2.5}) == learner.predict_one({"a": 2.5})
        return follower.current

    names = ["infinite-layer", "linear", "mixture"]
    versions = [published(name) for name in names]
    first, second, third = (each.header for each in versions)
    assert [first.learner, second.learner, third.learner] == names
    assert first.version < second.version < third.version
    assert versions[0].learner.predict_interval({"a": 3})
    assert second.positions == {("log-events", 0): 52}
