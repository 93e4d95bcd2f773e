"""The test broker, and the errors if it is not available."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from support.kafka_broker import DOCKER_IMAGE
from support.kafka_topics import create_topic
from support.ports import free_port

ROOT = Path(__file__).parents[2]


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_a_broker_in_the_foreground(tmp_path: Path) -> None:
    """`make kafka` prints its address, serves, and cleans up on SIGTERM. If its port is taken, it
    says so in one line, without a Java stack trace."""
    port = free_port()
    command = [sys.executable, "-m", "support.kafka_broker", f"--port={port}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        try:
            assert running.stdout is not None
            assert "Starting Apache Kafka" in running.stdout.readline()
            assert f"listens on 127.0.0.1:{port}" in running.stdout.readline()
            create_topic(f"127.0.0.1:{port}")
            second = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
        finally:
            running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
    assert second.returncode == 1
    assert second.stderr == (
        f"Something listens on 127.0.0.1:{port} already; use --port (make kafka PORT=9192).\n"
    )
    assert list(tmp_path.iterdir()) == []
