"""Starting, restarting and stopping real processes."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

from iln_stream.errors import IlnError, UnrecoverableError
from iln_stream.service.supervisor import RestartPolicy, Supervisor

COMMAND = [sys.executable, str(Path(__file__).parent / "children.py")]
QUICK = RestartPolicy(limit=2, within=60.0, first=0.01)


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
        deadline = monotonic() + 30.0
        while not condition() and monotonic() < deadline:
            sleep(0.01)
        supervised.stop()

    threading.Thread(target=watch, daemon=True).start()


def test_it_ends_with_the_last_process() -> None:
    """Processes whose work is done are not started again."""
    supervised = supervisor(("finish", ""), ("finish", ""))
    supervised.run()
    assert [worker.restarts.n for worker in supervised.workers] == [0, 0]
    assert all(worker.is_over and worker.child is None for worker in supervised.workers)


def test_a_process_that_fails_is_started_again(tmp_path: Path) -> None:
    """The others go on meanwhile."""
    supervised = supervisor(("fail_once", str(tmp_path / "failed")), ("finish", ""))
    supervised.run()
    assert [worker.restarts.n for worker in supervised.workers] == [1, 0]


@pytest.mark.parametrize(
    ("job", "reason"), [("fail", "no disk"), ("end_silently", "ended with exit code 0")]
)
def test_too_many_failures(job: str, reason: str, waits: tuple[str, str]) -> None:
    """After the allowed restarts all are stopped, and the message of the process is raised; so too
    if a process ends although its work is not done."""
    supervised = supervisor((job, "no disk"), waits)
    with pytest.raises(
        IlnError, match=f"worker 0 failed after 2 restarts within 1 minutes: {reason}"
    ):
        supervised.run()
    assert [worker.restarts.n for worker in supervised.workers] == [2, 0]
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


def test_a_command_that_does_not_exist(waits: tuple[str, str]) -> None:
    """If a process can't be started at all, the error is raised."""
    missing = Supervisor(["/no/such/program"], [waits], ["worker 0"], QUICK)
    with pytest.raises(FileNotFoundError):
        missing.run()
