"""Runs commands, and servers that end with the tests."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

_DEADLINE_SECONDS = 60.0


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
