"""Runs commands, and servers that end with the tests."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

_DEADLINE_SECONDS = 60.0
_STOP_DEADLINE_SECONDS = 20.0


def output_of(
    command: Sequence[str],
    *,
    raising: type[RuntimeError],
    folder: Path | None = None,
    deadline: float = _DEADLINE_SECONDS,
) -> str:
    """Run a command to its end and return its output; raise if it fails."""
    try:
        result = subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=deadline,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise raising(f"{command[0]} did not run to its end: {error}") from error
    if result.returncode:
        raise raising(f"{' '.join(command)}\nfailed and said:\n{last_lines(result.stdout)}")
    return result.stdout.strip()


class ServerProcess:
    """A server whose output goes to a log file; it ends with the tests, even if they are killed."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._log_start = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._watcher: subprocess.Popen[bytes] | None = None

    def run(self, command: Sequence[str], **variables: str) -> None:
        """Start it with these variables added to the environment."""
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("ab") as log:
            self._log_start = log.tell()
            self._process = subprocess.Popen(
                command,
                env={**os.environ, **variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._watcher = run_when_this_process_dies(["kill", "-KILL", str(self._process.pid)])

    def wait_until(
        self, answers: Callable[[], bool], raising: type[RuntimeError], deadline: float
    ) -> None:
        """Wait until it answers; if it does not, stop it and raise with the end of its log."""
        end = time.monotonic() + deadline
        while not answers():
            if self.has_exited() or time.monotonic() > end:
                self.stop()
                raise raising(f"It did not start; the end of its log:\n{self.log_tail()}")
            time.sleep(0.05)

    def has_exited(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def stop(self) -> None:
        """Shut it down cleanly."""
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_STOP_DEADLINE_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End it with SIGKILL."""
        if self._watcher is not None:
            call_off(self._watcher)
            self._watcher = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self, paused: bool) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def said(self) -> str:
        """Return its output since the last start."""
        with self._log.open("rb") as log:
            log.seek(self._log_start)
            return log.read().decode(errors="replace")

    def log_tail(self) -> str:
        return last_lines(self.said())


def run_when_this_process_dies(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Unlike PR_SET_PDEATHSIG this does not fire when only the starting *thread* ends."""
    return subprocess.Popen(
        ["sh", "-c", 'read -r _; exec "$@"', "sh", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def call_off(watcher: subprocess.Popen[bytes]) -> None:
    """Cancel the command of `run_when_this_process_dies`."""
    watcher.kill()
    with watcher:  # closes the pipe and waits
        pass


def last_lines(text: str, count: int = 40) -> str:
    return "\n".join(text.splitlines()[-count:])
