"""What a process knows of its supervisor."""

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

CHILDREN = Path(__file__).parent / "children.py"

_SUPERVISOR = """
import sys
from iln_stream.service.supervisor import Supervisor
Supervisor([sys.executable, sys.argv[1]], [("wait", sys.argv[2])], ["worker 0"]).run()
"""


def test_a_process_ends_with_its_supervisor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process whose supervisor is killed gets SIGTERM and ends."""
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    waits = tmp_path / "waits"
    command = [sys.executable, "-c", _SUPERVISOR, str(CHILDREN), str(waits)]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as supervisor:
        wait_for(waits.exists)
        supervisor.send_signal(signal.SIGKILL)
        # Standard error of both is one pipe: it ends when the child has ended, too.
        _, said = supervisor.communicate(timeout=30)
    assert b"the supervisor is gone" in said


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = monotonic() + 30.0
    while not condition():
        assert monotonic() < deadline
        sleep(0.01)
