"""`Worker`: what it wires for one reader, and how it closes it."""

import json

import pytest
from prometheus_client import CollectorRegistry

from iln_stream.errors import IlnWarning
from iln_stream.loop import Listener
from iln_stream.loop.metrics import Metrics
from iln_stream.service import Settings, source_stream
from iln_stream.service.streams import Outputs, Reader
from iln_stream.service.worker import Worker


class Closing(Listener):
    """Notes that it is closed, and may fail then."""

    def __init__(self, closed, name, error=None):
        self.closed, self.name, self.error = closed, name, error

    def close(self):
        self.closed.append(self.name)
        if self.error is not None:
            raise self.error


@pytest.fixture
def worker(tmp_path):
    """Return a function that makes a worker on a file of 3 events, with these settings."""
    events = ({"x": {"a": n}, "y": n, "id": "same"} for n in range(3))
    (tmp_path / "e.jsonl").write_text("\n".join(map(json.dumps, events)))
    made = []

    def make(listeners=(), **values):
        settings = Settings(source="e.jsonl", **values)
        registry, outputs = CollectorRegistry(), Outputs(settings)
        stream, metrics = source_stream(settings), Metrics(registry, settings.window)
        made.append(outputs)
        reader = Reader("log-events", "0", (0,), settings.seed)
        return Worker(settings, stream, reader, metrics, outputs, listeners), registry

    yield make
    for outputs in made:
        outputs.close()


@pytest.mark.parametrize(("recent_ids", "n_learned"), [(None, 3), (10, 1)])
def test_run(recent_ids, n_learned, worker):
    """A worker learns its source to the end, under the label of stream and learner."""
    running, registry = worker(recent_ids=recent_ids, learner="pool")
    running.run()
    running.close()
    labels = {"model": "e.jsonl/pool", "partition": "0"}
    assert registry.get_sample_value("iln_events_total", labels) == n_learned
    assert running.learner.regressor["ShrinkingGradient"].seed == 1


def test_unseen_fields(worker):
    """At the end of a short stream, an id that no record has is warned of."""
    running, _ = worker(learner="pool", target="y", id_field="Id", features="x")
    with pytest.warns(IlnWarning, match=r"id_field = 'Id': no record of 3 has .* mean 'id'\?"):
        running.run()
    running.close()


def test_pending_events_are_exported(worker):
    """With `pending_events` the number of waiting events is a metric."""
    running, registry = worker(pending_events=5)
    running.close()
    names = {family.name for family in registry.collect()}
    assert "iln_pending_events" in names


def test_all_listeners_are_closed(worker):
    """Listeners close in order, even after one of them fails."""
    closed = []
    listeners = [Closing(closed, "a"), Closing(closed, "b", OSError("b")), Closing(closed, "c")]
    running, _ = worker(listeners)
    with pytest.raises(OSError, match="b"):
        running.close()
    assert closed == ["a", "b", "c"]
