"""`Service`: run as in production, except for Kafka."""

import gc
import json
import os
import re
import signal
import socket
import subprocess

import pytest
from river import datasets, evaluate, metrics
from support.command_line import COMMAND, environment
from support.heard import scraped_at_each_step
from support.running_api import eventually
from support.web import ask

from iln_stream.errors import IlnError, IlnWarning, SinkError
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.loop import Listener
from iln_stream.records import DeadLetter, Prediction
from iln_stream.service import Service, Settings


def service(**values):
    return Service(Settings.load(**{"metrics_port": 0, **values}))


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def value(page, metric):
    """Return the value of a metric with one sample."""
    (found,) = re.findall(rf"^{metric}(?:{{[^}}]*}})? (\S+)$", page, flags=re.MULTILINE)
    return float(found)


def test_end_to_end(tmp_path):
    """A service learns as River's evaluation does: one prediction per event, the same error."""
    file = tmp_path / "predictions.jsonl"
    running = service(source="river:TrumpApproval", limit=300, predictions=str(file))
    running.run()
    data = list(datasets.TrumpApproval())[:300]
    predictions = [Prediction.model_validate(line) for line in lines(file)]
    assert [p.offset for p in predictions] == list(range(len(data)))
    assert [p.y for p in predictions] == [y for _, y in data]
    assert {p.stream for p in predictions} == {"TrumpApproval"}
    learner = InfiniteLayerRegressor(seed=1)
    theirs = evaluate.progressive_val_score(data, learner, metrics.MAE()).get()
    ours = sum(abs(p.y_pred - p.y) for p in predictions) / len(predictions)
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert running.workers[0].watched.scores.running_error == pytest.approx(theirs, rel=1e-12)
    assert (tmp_path / "dead-letters.jsonl").read_bytes() == b""


def test_same_settings_same_predictions(tmp_path):
    """Two runs with the same seed publish the same bytes, and so the same version of the model;
    another seed gives others."""
    published = []
    for seed in (5, 5, 6):
        file = tmp_path / f"{len(published)}.jsonl"
        service(source="river:TrumpApproval", limit=100, seed=seed, predictions=str(file)).run()
        published.append(file.read_bytes())
    assert published[0] == published[1] != published[2]


def test_collections_leave_modules_alone():
    """While a service runs, full collections of garbage do not visit what was there before: they
    took a tenth of a fast learner's time. Afterwards they do again."""
    frozen = []

    class Watching(Listener):
        def on_step(self, step):
            frozen.append(gc.get_freeze_count())

    settings = Settings.load(source="river:TrumpApproval", limit=1, metrics_port=0)
    Service(settings, listeners=[Watching()]).run()
    assert frozen[0] > 100_000
    assert gc.get_freeze_count() == 0


def test_metrics_over_http(tmp_path):
    """While the service runs, /metrics shows current counts; afterwards the port is closed."""
    (tmp_path / "events.jsonl").write_bytes(
        b'{"x": {"a": 1}, "y": 1}\n{"x": {"a": 2}}\n?\n{"x": {"a": 1}, "y": 3}\n'
    )
    running = service(source="events.jsonl", model="mine")
    running.serve_metrics()
    url = running.metrics_url
    pages = scraped_at_each_step(running)
    told = [
        tuple(value(page, f"iln_{name}_total") for name in ("events", "labelled_events"))
        for page in pages
    ]
    assert told == [(1, 1), (2, 1), (3, 2)]
    assert [value(page, "iln_dead_letters_total") for page in pages] == [0, 0, 1]
    assert 'iln_events_total{model="mine",partition="0"}' in pages[0]
    # The first prediction is 0 and wrong by 1.
    assert (
        'iln_error{measure="mae",model="mine",of="model",over="all",partition="0"} 1.0' in pages[0]
    )
    with pytest.raises(OSError, match="refused"):
        ask(url)


def test_port_taken():
    """An error about a port in use names the port and the remedy."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        running = service(source="river:TrumpApproval", metrics_port=port)
        with pytest.raises(IlnError, match=rf"metrics_port = {port}: .*in use; choose another"):
            running.run()
    assert running.workers[0].watched.scores.n_events == 0


def test_failing_sink_stops_the_run(tmp_path):
    """If predictions can't be stored, the run fails, but closes everything: the dead letters are
    stored, and a listener that fails to close keeps no other from it."""
    lines_in = [f'{{"x": {{"a": {n}}}, "y": {n}}}' for n in range(2_000)]
    (tmp_path / "e.jsonl").write_text("\n".join(["nonsense", *lines_in]))
    running = service(source="e.jsonl", learner="pool", predictions="/dev/full")
    closed = []

    class Last(Listener):
        def close(self):
            closed.append(True)
            raise OSError("not this one")

    running.workers[0].loop.listeners += (Last(), Last())
    with pytest.raises(SinkError, match="can't write /dev/full: No space left"):
        running.run()
    assert closed == [True, True]
    assert running.workers[0].watched.scores.n_events < 2_000
    assert running.metrics_url is None
    (letter,) = lines(tmp_path / "dead-letters.jsonl")
    DeadLetter.model_validate(letter)
    assert (letter["stream"], letter["offset"], letter["payload"]) == ("e.jsonl", 0, "nonsense")


def test_unseen_fields(tmp_path):
    """At the end of a short stream, an id that no record has is warned of."""
    (tmp_path / "e.jsonl").write_text('{"x": 1, "y": 2, "id": "a"}\n' * 3)
    running = service(source="e.jsonl", learner="pool", target="y", id_field="Id", features="x")
    with pytest.warns(IlnWarning, match=r"id_field = 'Id': no record of 3 has .* mean 'id'\?"):
        running.run()


@pytest.fixture
def process(tmp_path):
    """`iln-stream run` that reads from an open pipe."""
    arguments = ["run", "--source=-", "--learner=pool", "--metrics-port=0", "--predictions=p.jsonl"]
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    ) as running:
        yield running
        running.kill()


@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.thorough)],
    ids=lambda n: n.name,
)
def test_signal(number, process, tmp_path):
    """A signal ends the run after the current event, with outputs stored and exit code 0."""
    for i in range(5):
        process.stdin.write(b'{"x": {"a": %d}, "y": %d}\n' % (i, i))
    stored = tmp_path / "p.jsonl"  # in a pause, with the pipe still open
    eventually(lambda: stored.exists() and len(stored.read_bytes().splitlines()) >= 5)
    process.stdin.write(b'{"x": {"a": 5}, "y"')
    os.kill(process.pid, number)
    _, error = process.communicate(timeout=30)
    assert process.returncode == 0, error
    assert f"{number.name}: finishing the current event" in error.decode()
    assert "5 events, 0 dead letters" in error.decode()
    assert b"Traceback" not in error
    assert [line["offset"] for line in lines(tmp_path / "p.jsonl")] == [0, 1, 2, 3, 4]
    assert (tmp_path / "dead-letters.jsonl").read_bytes() == b""
