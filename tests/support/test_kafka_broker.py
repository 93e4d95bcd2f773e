"""What holds up the Kafka tests: a real broker, or a failure that says what is missing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from support.kafka_broker import DOCKER_IMAGE
from support.kafka_topics import create_topic

ROOT = Path(__file__).parents[2]


def test_without_any_kafka_the_tests_fail(tmp_path: Path) -> None:
    """A machine without a broker is told what to install; nothing is skipped."""
    environment = {k: v for k, v in os.environ.items() if k not in ("JAVA_HOME", "PYTEST_ADDOPTS")}
    environment.pop("ILN_TEST_BOOTSTRAP", None)
    one_test = ROOT / "tests/sources/test_kafka.py::test_each_record_comes_once_in_offset_order"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", str(one_test)],
        cwd=ROOT,
        env={**environment, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    assert "1 error" in result.stdout
    assert "skipped" not in result.stdout
    assert "These tests need a real Apache Kafka: install Java 17" in result.stdout
    assert DOCKER_IMAGE in result.stdout


def test_a_broker_in_the_foreground(tmp_path: Path) -> None:
    """`make kafka` says where it listens, serves, and leaves nothing behind at SIGTERM."""
    port = 14092
    foreground = [sys.executable, "-m", "support.kafka_broker", f"--port={port}"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        foreground, env=environment, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stdout is not None
            assert "Starting Apache Kafka" in running.stdout.readline()
            assert f"listens on 127.0.0.1:{port}" in running.stdout.readline()
            create_topic(f"127.0.0.1:{port}")
            second = subprocess.run(
                foreground, env=environment, capture_output=True, text=True, check=False
            )
            assert second.returncode == 1
            assert f"listens on 127.0.0.1:{port} already" in second.stderr
        finally:
            running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
    assert list(tmp_path.iterdir()) == []
