"""Users' own learners, listeners, sources, sinks and features, by import path or entry point."""

import importlib
import sys

import pytest
from support.heard import scraped_at_each_step

from iln_stream.loop import Listener
from iln_stream.service import Service, Settings, SettingsError, build_learner
from iln_stream.service.service import build_listeners
from iln_stream.streams import schemes

USERS_OWN = """
import json
from dataclasses import dataclass

import numpy as np
from river import dummy, stats

from iln_stream.loop import Listener
from iln_stream.reporting import MetricSpec
from iln_stream.streams import Record, Scheme, StreamPartition

heard = []
written = []


class Hearing(Listener):
    def on_step(self, step):
        heard.append((step.offset, step.x, step.y_pred))


class Mean(dummy.StatisticRegressor):
    flags = ()

    def __init__(self, statistic=None):
        super().__init__(statistic or stats.Mean())

    def report(self, y_pred, y):
        return abs(y_pred - y), ()

    def metrics(self):
        return [MetricSpec("users_own_mean", "gauge", "The mean.", self.statistic.get)]


class Five:
    stream, partitions, connected, lag, exhausted = "five", (0,), True, None, False

    def __init__(self, options):
        self.limit = options.limit or 5

    def poll(self, timeout):
        if self.exhausted:
            return []
        self.exhausted = True
        origin = StreamPartition(self.stream, 0)
        return [Record(i, {"x": {"a": i}, "y": 2 * i}, origin) for i in range(self.limit)]

    def close(self):
        pass


class Kept:
    def __init__(self, options):
        pass

    def write(self, key, value, timestamp=None):
        written.append(json.loads(value)["y_pred"])

    def send_queued(self):
        pass

    def flush(self):
        pass

    close = flush


class OwnScheme(Scheme):
    def source(self):
        return Five(self.options)

    def sink(self, partition=0):
        return Kept(self.options)


@dataclass(frozen=True)
class Squashed:
    slope: float = 1.0
    q = 1.0

    def draw(self, n, d, rng):
        return rng.standard_normal((n, d))

    def psi(self, x, w):
        return np.tanh(self.slope * np.vecdot(w, x))
"""

ENTRY_POINTS = """
[iln_stream.learners]
users-mean = users_own:Mean
[iln_stream.listeners]
users-hearing = users_own:Hearing
[iln_stream.features]
squashed = users_own:Squashed
[iln_stream.streams]
own = users_own:OwnScheme
"""


@pytest.fixture
def users_own(tmp_path, monkeypatch):
    """A module in the current folder that belongs to a distribution with entry points."""
    (tmp_path / "users_own.py").write_text(USERS_OWN)
    info = tmp_path / "users_own-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: users-own\nVersion: 1\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield importlib.import_module("users_own")
    sys.modules.pop("users_own", None)


@pytest.mark.parametrize(
    ("source", "sink", "listener"),
    [
        ("users_own:Five", "own:predictions", "users_own:Hearing"),
        ("own:anything", "users_own:Kept", "users-hearing"),
    ],
)
def test_source_sink_and_listener(users_own, source, sink, listener):
    """A source, a sink and a listener are found by import path and by entry point."""
    given = {"source": source, "predictions": sink, "listeners": listener, "limit": 3}
    Service(Settings(**given, metrics_port=None)).run()
    assert len(users_own.written) == 3
    assert [(offset, x) for offset, x, _ in users_own.heard] == [(n, {"a": n}) for n in range(3)]


def test_listener_given(users_own):
    """A listener passed to the service is called beside those in the settings."""

    class Given(Listener):
        steps = 0
        closed = False

        def on_step(self, step):
            self.steps += 1

        def close(self):
            self.closed = True

    given = Given()
    settings = Settings(source="users_own:Five", listeners="users_own:Hearing", metrics_port=None)
    Service(settings, listeners=[given]).run()
    assert (given.steps, given.closed, len(users_own.heard)) == (5, True, 5)


@pytest.mark.parametrize("name", ["users_own:Mean", "users-mean"])
def test_learner_and_its_metrics(users_own, name):
    """A user's learner exports its loss and metrics without further settings."""
    running = Service(Settings(source="users_own:Five", learner=name, metrics_port=0))
    pages = scraped_at_each_step(running)
    labels = f'{{model="five/{name}",partition="0"}}'
    assert f"users_own_mean{labels} 4.0" in pages[-1]
    assert f"iln_running_loss{labels} 2.8" in pages[-1]  # the errors are 0, 2, 3, 4 and 5


@pytest.mark.parametrize("name", ["users_own:Squashed", "squashed"])
def test_feature_family(users_own, name):
    """Learner options can name a user's feature family or one of ours."""
    options = {"features": name, "draws": 8}
    learner = build_learner(Settings(learner="shrinking-gradient", learner_options=options))
    inner = learner.regressor["ShrinkingGradient"]
    assert type(inner.features).__name__ == "Squashed"
    shipped = {"features": "DecisionStumps", "norm_bound": 4.0}
    learner = build_learner(Settings(learner="shrinking-gradient", learner_options=shipped))
    assert type(learner.regressor["ShrinkingGradient"].features).__name__ == "DecisionStumps"


def test_unknown_names(users_own):
    """An error about an unknown name has the similar one, or else lists the available names."""
    assert "own" in schemes()
    with pytest.raises(SettingsError, match="listeners = 'hearing': did you mean users-hearing"):
        build_listeners(Settings(listeners="hearing"))
    wrong = Settings(learner="shrinking-gradient", learner_options={"features": "Gauss"})
    with pytest.raises(SettingsError, match=r"features = 'Gauss': give .*GaussianFourier"):
        build_learner(wrong)
    with pytest.raises(SettingsError, match=r"listeners = 'users_own:Nobody': .*no attribute"):
        build_listeners(Settings(listeners="users_own:Nobody"))
    with pytest.raises(SettingsError, match="listeners: users_own:Mean is no Listener, but Mean"):
        build_listeners(Settings(listeners="users_own:Mean"))
