"""The setting `answers`: what /predict answered is recorded, or counted as lost."""

import json
import threading
from functools import partial

from prometheus_client.registry import CollectorRegistry
from support.running_api import eventually, example, publish

from iln_stream.errors import SinkError
from iln_stream.serving import recording
from iln_stream.serving.metrics import ApiMetrics
from iln_stream.serving.recording import AnswerLog, digest_of


def test_each_answer_is_recorded(tmp_path, start):
    """A line says which version answered what to which inputs; the order of names is no matter."""
    publish(tmp_path)
    api = start(answers=str(tmp_path / "answers.jsonl")).ready()
    x = example(1)
    one = api.post("/predict", {"x": x}).json()
    two = api.post("/predict", {"events": [{"x": x, "id": "e7"}, {"x": {**x, "a": 0.5}}]}).json()
    api.stop()
    lines = [json.loads(line) for line in (tmp_path / "answers.jsonl").open()]
    assert [line["id"] for line in lines] == [None, "e7", None]
    assert {(line["model"], line["version"]) for line in lines} == {("log-events-0", 2)}
    assert one["model"]["version"] == two["model"]["version"] == 2
    predictions = [*one["predictions"], *two["predictions"]]
    for line, prediction in zip(lines, predictions, strict=True):
        assert {name: line[name] for name in prediction} == prediction
    assert lines[0]["inputs"] == lines[1]["inputs"] == digest_of(dict(reversed(x.items())))
    assert lines[2]["inputs"] != lines[0]["inputs"]


class Failing:
    """Fails once, when it is flushed, and whenever it is closed after that."""

    fails = True

    def __init__(self):
        self.values, self.closed = [], False

    def write(self, key, value, timestamp=None):
        self.values.append(value)

    def flush(self):
        if Failing.fails:
            Failing.fails = False
            raise SinkError("the disk is full")

    def close(self):
        self.closed = True
        raise SinkError("still")


def test_what_is_not_recorded_is_counted(monkeypatch, caplog):
    """A failure, and too many bytes that wait, lose answers: counted, logged once, nobody waits;
    later answers are recorded, in a new sink after the failed one is closed."""
    monkeypatch.setattr(recording, "_MOST_BYTES", 1_000_000)
    opened, metrics = [], ApiMetrics(CollectorRegistry())
    turn = threading.Event()

    def open_sink():
        opened.append(Failing())
        return opened[-1]

    def count(outcome):
        return metrics.registry.get_sample_value("iln_api_answers_total", {"outcome": outcome})

    answers = AnswerLog(open_sink, metrics)
    answers.record("m", 1, [({"a": 1.0}, None, {"y_pred": 2.0})])
    eventually(lambda: count("lost") == 1)
    answers.record("m", 1, [({"a": 1.0}, None, {"y_pred": 3.0})])
    eventually(lambda: count("recorded") == 1)
    assert json.loads(opened[1].values[0])["y_pred"] == 3.0
    assert [each.closed for each in opened] == [True, False]
    monkeypatch.setattr(Failing, "write", lambda *_: turn.wait())
    for _ in range(12_000):
        answers.record("m", 1, [({"a": 1.0}, None, {"y_pred": 4.0})])
    eventually(lambda: count("lost") >= 100)
    turn.set()
    answers.close()
    assert count("lost") + count("recorded") == 12_002
    assert caplog.text.count("the disk is full") == 1


def test_the_end_waits_for_no_sink(monkeypatch, caplog):
    """A sink of the user's that raises any error loses only that answer; the end waits for one
    that hangs, but not without limit."""
    monkeypatch.setattr(recording, "_CLOSE_SECONDS", 0.1)
    monkeypatch.setattr(Failing, "fails", False)
    metrics, turn = ApiMetrics(CollectorRegistry()), threading.Event()
    writes = iter([lambda: 1 / 0, turn.wait])
    monkeypatch.setattr(Failing, "write", lambda *_: next(writes)())
    answers = AnswerLog(Failing, metrics)
    lost = partial(metrics.registry.get_sample_value, "iln_api_answers_total", {"outcome": "lost"})
    answers.record("m", 1, [({"a": 1.0}, None, {"y_pred": 2.0})])
    eventually(lambda: lost() == 1)
    answers.record("m", 1, [({"a": 1.0}, None, {"y_pred": 2.0})])
    answers.close()
    assert "answers were not recorded in 0.1 s" in caplog.text
    turn.set()
