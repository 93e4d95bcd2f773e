"""`iln-stream rebuild`: its flags, and its report."""

import io
import json

import pytest
from rich.console import Console
from support.embedded_log import append, values
from support.kafka_topics import produce
from support.saved_state import saved

from iln_stream.cli.run import rebuild_learners
from iln_stream.service import Service, Settings
from iln_stream.streams.sqlite import Retention, trim


def test_until_and_skip(broker, topic, command, tmp_path, caplog):
    """The flags decide which records are learned again, and the report gives the position."""
    events = [json.dumps({"x": {"a": n}, "y": n, "id": f"e{n}"}).encode() for n in range(50)]
    produce(broker.bootstrap, topic, [(None, event) for event in events])
    shared = (
        *(f"--bootstrap={broker.bootstrap}", f"--topic={topic}", f"--snapshots={tmp_path}"),
        *("--learner=pool", '--learner-options={"size": 16}'),
    )
    command("run", *shared, "--start=earliest", "--stop-at-end", "--metrics-port=0").ok()
    done = command("rebuild", *shared, "--until=40", "--skip=0:5-7,0:9").ok()
    assert f"{topic}:0: skipped offsets 5-7, 9" in caplog.messages
    assert f"{topic}:0: learned again up to offset 40" in done.err
    assert "partition 0: learned 36 events; the state before had 50" in caplog.messages
    assert any(each.startswith("the rebuilt learner: MAE ") for each in caplog.messages)
    rebuilt = saved(tmp_path, topic)
    assert (rebuilt.header.positions, rebuilt.n_events) == ({(topic, 0): 40}, 36)
    assert command("rebuild", *shared).code == 0
    assert "had 36; what an earlier rebuild left out needs the same --skip" in caplog.text


@pytest.mark.parametrize(
    "flag", ["--until=soon", "--until=2026-01-31T12:00:00", "--skip=0:7-5", "--skip="]
)
def test_invalid_flags(flag, command):
    """An error about a flag names it, and gives an example."""
    done = command("rebuild", "--snapshots=state", flag).refused()
    assert f"error: {flag.replace('=', ' ')}: give " in done.err


def test_forget(tmp_path, command):
    """Values are forgotten for good, with a report; without a value, the flag gives up what the log
    lacks, wherever it stands."""
    events = [{"x": {"card": f"c{n % 3}"}, "y": n, "id": f"e{n}"} for n in range(30)]
    append(tmp_path / "log.db", [json.dumps(each).encode() for each in events])
    run = (
        *(f"--source=sqlite:{tmp_path / 'log.db'}", f"--snapshots={tmp_path / 's'}"),
        *("--learner=pool", '--learner-options={"size": 16}'),
    )
    assert command("run", *run, "--stop-at-end", "--metrics-port=0").code == 0
    done = command("rebuild", *run, "--forget", "card=c1", "--forget=id=e2").ok()
    said = done.err.replace("\n", " ")
    assert "found 11 records with the values, and 0 labels" in said
    assert "log.db: 11 records erased" in said
    assert (saved(tmp_path / "s", "log-events").n_events, len(values(tmp_path / "log.db"))) == (
        19,
        19,
    )
    trim(tmp_path / "log.db", "events", Retention(records=5))
    assert "log holds only" in command("rebuild", *run).err.replace("\n", " ")
    for flags in (("--forget", *run), (*run, "--forget")):
        assert command("rebuild", *flags).code == 0
    assert saved(tmp_path / "s", "log-events").n_events < 5


def test_progress(tmp_path, monkeypatch):
    """A rebuild takes as long as the log is: a terminal shows how far it is."""
    append(tmp_path / "log.db", [json.dumps({"x": {"a": n}, "y": n}).encode() for n in range(50)])
    settings = Settings(
        source=f"sqlite:{tmp_path / 'log.db'}", start="earliest", stop_at_end=True,
        snapshots=str(tmp_path / "s"), learner="pool", learner_options={"size": 16},
        metrics_port=None,
    )  # fmt: skip
    Service(settings).run()
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    monkeypatch.setattr("iln_stream.loop.progress._REFRESH_SECONDS", 0.0)
    rebuild_learners(settings, None, None, console)
    assert ", learned again: 50 events, " in screen.getvalue()
    assert "100%" in screen.getvalue()
