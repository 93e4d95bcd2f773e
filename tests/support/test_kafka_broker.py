"""The test broker, and the errors if it is not available."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from support.kafka_broker import DOCKER_IMAGE, KafkaBroker
from support.kafka_topics import create_topic

ROOT = Path(__file__).parents[2]


def test_without_any_kafka_the_tests_fail(tmp_path: Path) -> None:
    """Without a Kafka, tests fail with what to install, and are not skipped."""
    environment = {k: v for k, v in os.environ.items() if k not in ("JAVA_HOME", "PYTEST_ADDOPTS")}
    environment.pop("ILN_TEST_BOOTSTRAP", None)
    one_test = (
        ROOT / "tests/streams/kafka/test_source.py::test_each_record_comes_once_in_offset_order"
    )
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", one_test],
        cwd=ROOT,
        env={**environment, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "2 errors" in result.stdout  # one for each client
    assert "skipped" not in result.stdout
    assert "These tests need a real Apache Kafka: install Java 17" in result.stdout
    assert DOCKER_IMAGE in result.stdout


def in_the_foreground(port: int | str) -> list[str]:
    return [sys.executable, "-m", "support.kafka_broker", f"--port={port}"]


def test_a_broker_in_the_foreground(own_broker: KafkaBroker, tmp_path: Path) -> None:
    """`make kafka` prints its address, serves, and cleans up on SIGTERM."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        in_the_foreground(port), env=environment, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stdout is not None
            assert "Starting Apache Kafka" in running.stdout.readline()
            assert f"listens on 127.0.0.1:{port}" in running.stdout.readline()
            create_topic(f"127.0.0.1:{port}")
        finally:
            running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_taken_port(own_broker: KafkaBroker) -> None:
    """A port in use is one line, not a Java stack trace."""
    port = own_broker.bootstrap.partition(":")[2]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    result = subprocess.run(
        in_the_foreground(port), env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr == (
        f"Something listens on 127.0.0.1:{port} already; use --port (make kafka PORT=9192).\n"
    )
