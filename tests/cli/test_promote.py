"""`iln-stream promote`: its report, and its refusals."""

import json

from support.embedded_log import append, values
from support.ports import free_port


def test_the_command_is_in_the_log(command, tmp_path):
    """The command is appended durably, and the report says where."""
    append(tmp_path / "log.db", [json.dumps({"x": {}, "y": 1.0}).encode()])
    done = command("promote", "linear", f"--source=sqlite:{tmp_path / 'log.db'}").ok()
    assert "promotion of linear appended: partition 0, offset 1" in done.err
    assert values(tmp_path / "log.db")[1] == b'{"iln_stream": {"promote": "linear"}}'


def test_refusals(command, tmp_path):
    """A file can't be promoted in, and a log that does not exist is not created."""
    done = command("promote", "linear", "--source=events.jsonl").refused()
    assert "iln-stream log import events.jsonl sqlite:PATH" in done.err
    command("promote", "linear", f"--source=sqlite:{tmp_path / 'log.db'}").refused()
    assert not (tmp_path / "log.db").exists()


def test_the_default_address_is_named(command):
    """Who names no log reads which one is meant and how to name another, and without a broker there
    it waits only briefly."""
    address = f"127.0.0.1:{free_port()}"
    done = command("promote", "linear", f"--bootstrap={address}").refused()
    assert "promoting in kafka:iln-events, the default: name the log of another run" in done.err
    assert f"no Kafka broker answers at {address}" in done.err
    assert "--source" in done.err.split("answers at")[1]
