"""A running `iln-stream`: its log, metrics and exit code."""

import os
import re
import signal
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Protocol, Self

from prometheus_client.parser import text_string_to_metric_families

from support.command_line import start
from support.web import DIRECT, ask

_DEADLINE_SECONDS = 120.0  # machines are busy


class Command:
    """One `iln-stream ...` process in `folder`, killed at the end if it still runs.

    `under` is the command that starts it, such as one that limits what it may do.
    """

    def __init__(self, folder: Path, *arguments: str, under: Sequence[str] = ()) -> None:
        self._said = folder / f"{arguments[0]}-{os.urandom(4).hex()}.stderr"
        with self._said.open("wb") as stderr, Path(os.devnull).open("r+b") as null:
            self._process = start(arguments, folder, (null, null, stderr), under=under)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def said(self) -> str:
        """Standard error so far."""
        return self._said.read_text()

    @property
    def pid(self) -> int:
        """Id of the process."""
        return self._process.pid

    @property
    def runs(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def wait(self, seconds: float = _DEADLINE_SECONDS) -> int:
        """Wait for the end and return the exit code."""
        return self._process.wait(seconds)

    def signal(self, number: int) -> None:
        """Send a signal."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """Send SIGKILL, and wait for the end."""
        self._process.kill()
        self._process.wait()

    def wait_until_it_says(self, words: str) -> None:
        """Wait until standard error contains the text."""
        deadline = monotonic() + _DEADLINE_SECONDS
        while words not in self.said:
            assert self.runs, f"it ended and said:\n{self.said}"
            assert monotonic() < deadline, f"it never said {words!r} but:\n{self.said}"
            sleep(0.01)

    def terminate(self) -> int:
        """Send SIGTERM, wait for the end, and return the exit code."""
        self._process.send_signal(signal.SIGTERM)
        return self.wait()

    def metrics(self) -> dict[str, float]:
        """Current metrics by sample name; empty while the server is not listening."""
        address = re.search(r"http://\S+/metrics", self.said)
        if address is None:
            return {}
        with DIRECT.open(address[0], timeout=10) as response:
            families = text_string_to_metric_families(response.read().decode())
            return {each.name: each.value for family in families for each in family.samples}

    def answer(self, path: str) -> tuple[int, str]:
        """Return the status and the text with which the server of the metrics answers."""
        address = re.search(r"(http://\S+)/metrics", self.said)
        assert address is not None, f"it serves no metrics and said:\n{self.said}"
        return ask(f"{address[1]}{path}")

    def wait_for_metrics(
        self, condition: Callable[[dict[str, float]], bool], seconds: float = _DEADLINE_SECONDS
    ) -> dict[str, float]:
        """Wait until the metrics fulfil a condition, and return them."""
        deadline = monotonic() + seconds
        while not ((found := self.metrics()) and condition(found)):
            assert self.runs, f"it ended and said:\n{self.said}"
            assert monotonic() < deadline, f"the metrics stay {found}; it said:\n{self.said}"
            sleep(0.05)
        return found


class Start(Protocol):
    """Starts a process, as the fixture `start` does."""

    def __call__(self, *arguments: str, under: Sequence[str] = ()) -> Command: ...
