"""`iln-stream warm-start`, and what `run`, `inspect` and `export` say after it."""

import json

import pytest
from support.embedded_log import append

FLAGS = ("--source=sqlite:log.db", "--snapshots=state", "--metrics-port=0")
FIELDS = '--warm-start-fields={"target": "y", "time_field": "when"}'


@pytest.fixture
def history(tmp_path):
    """A file of fifty minutes, and a log of events that follow."""
    lines = [f"2026-01-01T00:{n:02}Z,{n % 5},{n % 3}" for n in range(50)]
    (tmp_path / "h.csv").write_text("\n".join(["when,a,y", *lines]))
    events = [{"x": {"a": n % 5}, "y": n % 3} for n in range(7)]
    append(tmp_path / "log.db", [json.dumps(event).encode() for event in events])
    return "h.csv"


def test_warm_start_then_run(command, history, tmp_path):
    """The command reports the history's scores and where the log goes on; `run` learns the log
    alone; `inspect` and the model card name the history."""
    learner = ("--learner=iln_stream.learners:ShrinkingGradient",)
    done = command("warm-start", history, *FLAGS, *learner, FIELDS, "--start=earliest").ok()
    assert "history (h.csv): 50 events, 0 dead letters; MAE " in done.err
    assert "the log goes on at offset 0 of log-events:0. `iln-stream run` resumes there" in done.err
    assert "7 events, 0 dead letters" in command("run", *FLAGS, *learner, "--stop-at-end").ok().err
    done = command("inspect", "state")
    assert "h.csv: 50 events, 50 of them learned, 0 dead letters, SHA-256" in done.out
    assert "2026-01-01T00:00:00Z to 2026-01-01T00:49:00Z, 0 out of order" in done.out
    assert "from offset 0 of log-events:0" in done.out
    command("export", "state", "model.npz", "--size=8").ok()
    card = (tmp_path / "model.md").read_text()
    assert "| learned before the stream |" in card
    assert "h.csv" in card
