"""What supervised processes do in these tests: `python children.py DESCRIPTOR`.

A job is the name of a function below, and its argument.
"""

import pickle
import signal
import sys
import time
from pathlib import Path
from typing import NoReturn

from iln_stream.service.supervisor import Reporter


def finish(reporter: Reporter, argument: str) -> None:
    reporter.finishes()


def fail(reporter: Reporter, argument: str) -> NoReturn:
    reporter.fails(argument, final=False)
    sys.exit(2)


def fail_for_good(reporter: Reporter, argument: str) -> NoReturn:
    reporter.fails(argument, final=True)
    sys.exit(2)


def fail_once(reporter: Reporter, argument: str) -> None:
    """Fail unless a file says that this is the second time."""
    if Path(argument).exists():
        reporter.finishes()
        return
    Path(argument).touch()
    fail(reporter, "the first time")


def end_silently(reporter: Reporter, argument: str) -> None:
    """End like a process that somebody else has stopped."""


def wait(reporter: Reporter, argument: str) -> None:
    """Say so in a file, and wait for SIGTERM."""

    def leave(number: int, frame: object) -> NoReturn:
        sys.exit(0)

    signal.signal(signal.SIGTERM, leave)
    Path(argument).write_text("waits")
    while True:
        time.sleep(0.01)


def fail_at_the_end(reporter: Reporter, argument: str) -> None:
    """Wait for SIGTERM, and then fail to save."""
    try:
        wait(reporter, argument)
    finally:
        fail(reporter, "the disk is full")


if __name__ == "__main__":
    name, given = pickle.load(sys.stdin.buffer)
    globals()[name](Reporter(int(sys.argv[1])), given)
