import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.prometheus_server import DIRECT, PrometheusServer, PrometheusServerError, promtool

TESTS = Path(__file__).parents[1]
DEADLINE_SECONDS = 20.0

STARTS_ONE_AND_WAITS = """
import sys, time
from pathlib import Path
from support.prometheus_server import PrometheusServer
server = PrometheusServer(Path(sys.argv[1]), Path(sys.argv[2]))
server.start()
print(server.url, flush=True)
time.sleep(600)
"""


def test_without_prometheus_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A skipped test would look like a passed one."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ILN_CACHE", str(tmp_path))
    with pytest.raises(PrometheusServerError, match=r"install one .* on PATH"):
        promtool("--version")


def test_a_start_that_fails_quotes_the_log(tmp_path: Path) -> None:
    """A failed test shows Prometheus's own error."""
    config = tmp_path / "prometheus.yml"
    config.write_text("no_such_section: {}")
    with pytest.raises(PrometheusServerError, match="no_such_section"):
        PrometheusServer(config, tmp_path).start()


def test_prometheus_dies_with_the_tests(tmp_path: Path) -> None:
    """Tests ended by SIGKILL leave no Prometheus behind."""
    config = tmp_path / "prometheus.yml"
    config.write_text("global: {}")
    child = subprocess.Popen(
        [sys.executable, "-c", STARTS_ONE_AND_WAITS, config, tmp_path],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.PIPE,
        text=True,
    )
    with child:
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        assert answers(url)
        child.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while answers(url):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def answers(url: str) -> bool:
    try:
        with DIRECT.open(f"{url}/-/ready", timeout=5):
            return True
    except OSError:
        return False
