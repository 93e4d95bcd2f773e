"""Starting, restarting and stopping real processes."""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.running_api import eventually

from iln_stream.errors import IlnError, UnrecoverableError
from iln_stream.service.supervisor import RestartPolicy, Restarts, Supervisor

COMMAND = [sys.executable, str(Path(__file__).parent / "children.py")]
QUICK = RestartPolicy(limit=1, within=60.0, first=0.01)


@pytest.fixture
def waits(tmp_path: Path) -> tuple[str, str]:
    """The job of a process that waits to be stopped."""
    return "wait", str(tmp_path / "waits")


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let processes import what this one does."""
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))


def supervisor(*jobs: tuple[str, str]) -> Supervisor:
    names = [f"worker {number}" for number in range(len(jobs))]
    return Supervisor(COMMAND, jobs, names, QUICK)


def stop_once(condition: Callable[[], bool], supervised: Supervisor) -> None:
    """Stop the processes from another thread as soon as a condition holds."""

    def watch() -> None:
        eventually(condition)
        supervised.stop()

    threading.Thread(target=watch, daemon=True).start()


def test_a_process_that_fails_is_started_again(tmp_path: Path) -> None:
    """The others go on meanwhile; a process whose work is done is not started again."""
    supervised = supervisor(("fail_once", str(tmp_path / "failed")), ("finish", ""))
    supervised.run()
    assert [worker.restarts.n for worker in supervised.workers] == [1, 0]
    assert all(worker.is_over and worker.child is None for worker in supervised.workers)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("job", "reason"), [("fail", "no disk"), ("end_silently", "ended with exit code 0")]
)
def test_too_many_failures(job: str, reason: str, waits: tuple[str, str]) -> None:
    """After the allowed restarts all are stopped, and the message of the process is raised; so too
    if a process ends although its work is not done."""
    supervised = supervisor((job, "no disk"), waits)
    with pytest.raises(
        IlnError, match=f"worker 0 failed after 1 restarts within 1 minutes: {reason}"
    ):
        supervised.run()
    assert [worker.restarts.n for worker in supervised.workers] == [1, 0]
    assert all(worker.child is None for worker in supervised.workers)


def test_a_failure_that_would_repeat(waits: tuple[str, str]) -> None:
    """A process that says so is not started again."""
    supervised = supervisor(("fail_for_good", "seed was 1 and is 2"), waits)
    with pytest.raises(UnrecoverableError, match="worker 0: seed was 1 and is 2"):
        supervised.run()
    assert supervised.workers[0].restarts.n == 0


def test_stopping(waits: tuple[str, str]) -> None:
    """All processes get SIGTERM, and the run ends once they have ended, without an error."""
    supervised = supervisor(waits, waits)
    stop_once(Path(waits[1]).exists, supervised)
    supervised.run()
    assert all(worker.child is None for worker in supervised.workers)


def test_stopping_while_one_waits_to_be_started(waits: tuple[str, str]) -> None:
    """A process that has failed is not started any more once the others are stopped."""
    slow = RestartPolicy(limit=5, within=600.0, first=3600.0)
    supervised = Supervisor(COMMAND, [("fail", "x"), waits], ["worker 0", "worker 1"], slow)
    failed = supervised.workers[0]
    stop_once(lambda: failed.restarts.n == 1 and Path(waits[1]).exists(), supervised)
    supervised.run()
    assert failed.is_over


def test_a_failure_while_stopping(tmp_path: Path) -> None:
    """A process that can't save its state when it is stopped makes the run fail."""
    began = tmp_path / "began"
    supervised = supervisor(("fail_at_the_end", str(began)))
    stop_once(began.exists, supervised)
    with pytest.raises(IlnError, match="worker 0: the disk is full"):
        supervised.run()


_SUPERVISOR = """
import sys
from iln_stream.service.supervisor import Supervisor
Supervisor([sys.executable, sys.argv[1]], [("wait", sys.argv[2])], ["worker 0"]).run()
"""


def test_a_process_ends_with_its_supervisor(waits: tuple[str, str]) -> None:
    """A process whose supervisor is killed gets SIGTERM and ends."""
    command = [sys.executable, "-c", _SUPERVISOR, COMMAND[1], waits[1]]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as supervisor:
        eventually(Path(waits[1]).exists)
        supervisor.send_signal(signal.SIGKILL)
        # Standard error of both is one pipe: it ends when the child has ended, too.
        _, said = supervisor.communicate(timeout=30)
    assert b"the supervisor is gone" in said


def test_each_restart_waits_twice_as_long() -> None:
    """Up to the longest wait."""
    restarts = Restarts(RestartPolicy(limit=6, within=600.0, first=1.0, longest=10.0))
    waits = [restarts.after_failure(float(second)) for second in range(6)]
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]


def test_failures_are_forgotten() -> None:
    """Only failures of the last minutes count, so that one a day is never too many."""
    restarts = Restarts(RestartPolicy(limit=1, within=60.0, first=1.0))
    assert [restarts.after_failure(100.0 * day) for day in range(10)] == [1.0] * 10
    assert restarts.after_failure(930.0) is None
