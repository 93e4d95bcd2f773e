"""`iln-stream doctor`: what it finds, what is missing, and its exit code."""

import importlib.metadata
import io
import os
import socket
import sys

import pytest
from rich.console import Console
from support.kafka_topics import create_topic

from iln_stream.cli import doctor
from iln_stream.service import Settings

NOBODY_LISTENS_HERE = "127.0.0.1:1"
NO_KAFKA = {"source": "events.jsonl"}


def rows(**settings):
    """Return the exit code, and for each requirement its mark and what was found."""
    screen = io.StringIO()
    given = Settings(**{"bootstrap": NOBODY_LISTENS_HERE, **settings})
    code = doctor.examine(given, Console(file=screen, width=250))
    cells = [
        [cell.strip() for cell in line.strip("│").split("│")]
        for line in screen.getvalue().splitlines()
        if line.startswith("│")
    ]
    return code, {name: (mark, seen) for mark, name, seen, _ in cells}


@pytest.fixture
def uninstall(monkeypatch):
    """Make a package appear not to be installed."""
    version = importlib.metadata.version

    def hide(*names):
        def version_of(name):
            if name in names:
                raise importlib.metadata.PackageNotFoundError(name)
            return version(name)

        monkeypatch.setattr(importlib.metadata, "version", version_of)

    return hide


@pytest.fixture
def docker(tmp_path, monkeypatch):
    """Replace the program `docker` by a shell script."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    def script(text):
        (tmp_path / "docker").write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / "docker").chmod(0o755)

    return script


def test_broker_that_a_run_needs(command):
    """Without a broker the exit code is 1, as a run reads from Kafka by default; the last line says
    what is missing. With a file as source the exit code is 0."""
    done = command("doctor", "--bootstrap", NOBODY_LISTENS_HERE, "--source", "events.jsonl")
    assert done.code == 0
    done = command("doctor", "--bootstrap", NOBODY_LISTENS_HERE)
    assert done.code == 1
    assert "no connection" in done.out
    assert done.out.splitlines()[-1] == (
        f"missing for `iln-stream run` with these settings: Kafka at {NOBODY_LISTENS_HERE}"
    )


@pytest.mark.parametrize("output", ["predictions", "dead_letters"])
def test_broker_that_only_an_output_needs(output):
    """Outputs to Kafka need the broker, too."""
    assert rows(**NO_KAFKA, **{output: "file.jsonl"})[0] == 0
    assert rows(**NO_KAFKA, **{output: "kafka:topic"})[0] == 1


def test_missing_packages(command, monkeypatch):
    """If a dependency is missing, the exit code is 1, and the table names it. Settings are those of
    `run`, with the same errors."""
    refused = command("doctor", "--window", "0")
    assert refused.code == 2
    assert "window (--window, ILN_WINDOW)" in refused.err
    assert rows(**NO_KAFKA)[0] == 0
    monkeypatch.setattr(sys, "path", [])  # nothing installed can be found any more
    code, seen = rows(**NO_KAFKA)
    assert code == 1
    for name in ("river", "numpy", "numba", "pydantic"):
        assert seen[name] == ("missing", f"pip install {name}")
    assert seen["Python"][0] == "ok"


@pytest.mark.parametrize(
    ("package", "extra"),
    [
        ("confluent-kafka", "confluent"),
        ("zstandard", "compression"),
        ("matplotlib", "demo"),
    ],
)
def test_missing_extra(uninstall, package, extra):
    """The table names the extra for an optional package, which no run needs by default."""
    uninstall(package)
    code, seen = rows(**NO_KAFKA)
    assert code == 0
    assert seen[package] == ("missing", f"pip install 'iln-stream[{extra}]'")


def test_client_that_the_settings_name(uninstall):
    """The confluent client is required if the settings read from Kafka with it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = f"127.0.0.1:{listener.getsockname()[1]}"
        chosen = {"bootstrap": here, "kafka_client": "confluent"}
        uninstall("confluent-kafka")
        assert rows(bootstrap=here)[0] == 0
        assert rows(**NO_KAFKA, **chosen)[0] == 0
        assert rows(**chosen)[0] == 1


def test_broker_that_answers():
    """The broker is found if any of its addresses accepts a connection; a malformed address is a
    missing broker, not a crash."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        brokers = f"{NOBODY_LISTENS_HERE}, 127.0.0.1:{listener.getsockname()[1]}"
        code, seen = rows(bootstrap=brokers)
        assert (code, seen[f"Kafka at {brokers}"][0]) == (0, "ok")
    code, seen = rows(bootstrap=brokers)
    assert (code, seen[f"Kafka at {brokers}"][0]) == (1, "missing")
    assert rows(bootstrap="127.0.0.1:99999")[1]["Kafka at 127.0.0.1:99999"][0] == "missing"


def test_docker(docker, monkeypatch, tmp_path):
    """Docker is found if its engine answers, and missing if it is absent, silent or hangs."""
    docker("echo 28.2.2")
    assert rows()[1]["docker"] == ("ok", "engine 28.2.2")
    monkeypatch.setattr(doctor, "_ANSWER_WITHIN_SECONDS", 0.5)
    for script in ("echo '<no value>'; exit 1", "exit 0", "sleep 15; echo 28.2.2"):
        docker(script)
        assert rows()[1]["docker"] == ("missing", "client only, no engine")
    (tmp_path / "docker").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert rows()[1]["docker"] == ("missing", "not on PATH")


def test_no_place_for_compiled_code(monkeypatch):
    """Without a cache for compiled code, the table names the variable that sets one."""
    monkeypatch.setattr(doctor, "cache_folder", lambda: None)
    mark, seen = rows()[1]["compiled loops"]
    assert mark == "missing"
    assert "NUMBA_CACHE_DIR" in seen


def test_the_topic_of_the_settings(broker):
    """A topic that the settings name must exist and be visible: its partitions are shown."""
    topic = create_topic(broker.bootstrap, partitions=3)
    name = f"Kafka at {broker.bootstrap}"
    code, seen = rows(bootstrap=broker.bootstrap, topic=topic)
    assert (code, seen[name][0]) == (0, "ok")
    assert f"topic {topic}, partitions: 3" in seen[name][1]
    code, seen = rows(bootstrap=broker.bootstrap, source="kafka:no-such-topic")
    assert (code, seen[name][0]) == (1, "missing")
    assert "no topic 'no-such-topic'" in seen[name][1]
