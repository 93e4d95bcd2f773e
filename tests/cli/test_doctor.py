"""`iln-stream doctor`: what is here, what is missing, and whether that matters."""

import io
import socket
import sys

from rich.console import Console

from iln_stream.cli.doctor import examine
from iln_stream.service import Settings


def report(bootstrap="127.0.0.1:1"):
    screen = io.StringIO()
    code = examine(Settings(bootstrap=bootstrap), Console(file=screen, width=200))
    return code, {
        cells[1].strip(): cells[0].strip()
        for line in screen.getvalue().splitlines()
        if line.startswith("│")
        for cells in [line.strip("│").split("│")]
    }


def test_all_that_is_essential(command):
    """With what the package depends on installed, the exit code is 0, broker or not."""
    done = command("doctor", "--bootstrap", "127.0.0.1:1")
    assert done.code == 0
    assert "river" in done.out
    assert "nothing answers" in done.out


def test_missing_packages(monkeypatch):
    """Where a dependency is missing the exit code is 1, and the table says which."""
    code, _ = report()
    assert code == 0
    monkeypatch.setattr(sys, "path", [])  # nothing installed can be found any more
    code, seen = report()
    assert code == 1
    assert seen["river"] == seen["numpy"] == seen["pydantic"] == "missing"
    assert seen["Python"] == "ok"


def test_broker_that_answers():
    """A broker counts as there if any of its addresses takes a connection."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        brokers = f"127.0.0.1:1,127.0.0.1:{listener.getsockname()[1]}"
        _, seen = report(brokers)
        assert seen[f"Kafka at {brokers}"] == "ok"
    _, seen = report(brokers)
    assert seen[f"Kafka at {brokers}"] == "missing"


def test_address_that_is_none():
    """A malformed address is a broker that isn't there, not a crash."""
    _, seen = report("nonsense")
    assert seen["Kafka at nonsense"] == "missing"
