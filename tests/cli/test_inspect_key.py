"""What `iln-stream inspect --key` shows."""

import json

import pytest
from rich.console import Console

from iln_stream.cli.inspect import show_key
from iln_stream.errors import SnapshotError
from iln_stream.service import Service, Settings
from iln_stream.streams.sqlite import SqliteSink


def learned(path, **settings):
    """A folder of snapshots of a run."""
    sink = SqliteSink(path / "log.db", "events", 0)
    for t in range(120):
        event = {"x": {"shop": f"s{t % 3}", "a": t % 5}, "y": 5.0 * (t % 3) + t % 5}
        sink.write(None, json.dumps(event).encode())
    sink.flush()
    sink.close()
    Service(
        Settings(
            source=f"sqlite:{path / 'log.db'}", snapshots=str(path / "s"), stop_at_end=True,
            metrics_port=None, learner_options={"profile": "fast"}, **settings,
        )
    ).run()  # fmt: skip
    return path / "s"


def test_a_key_is_shown(tmp_path):
    """Its events, error, level, slopes and the weights of its rule; and what is no key."""
    folder, console = learned(tmp_path, by_key="shop"), Console(record=True, width=100)
    show_key(folder, "s2", console)
    text = console.export_text()
    for part in ("shop = s2", "events", "40", "mean |error|", "level", "a:", "global", "slopes"):
        assert part in text
    with pytest.raises(SnapshotError, match="none of the 3 keys"):
        show_key(folder, "s9", console)


def test_one_model_for_all_has_no_keys(tmp_path):
    """The error names the setting that would make one for each."""
    with pytest.raises(SnapshotError, match="set by_key"):
        show_key(learned(tmp_path), "s2", Console())
