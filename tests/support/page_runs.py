"""Runs with a page, and the events that they learn."""

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from support.running_command import Command

FAST = ("--learner-options", '{"profile": "fast"}')


def events(first: int, last: int) -> list[bytes]:
    """Return events whose label depends on two inputs, differently from number 600 on."""
    found = []
    for t in range(first, last):
        a, b = math.sin(t / 7.0), float(t % 5)
        y = 10.0 + (3.0 * a + b if t < 600 else b - 4.0 * a)
        found.append(json.dumps({"x": {"a": a, "b": b}, "y": y, "id": f"e-{t}"}).encode())
    return found


def classes(first: int, last: int) -> list[bytes]:
    """Return events without labels, each followed by the label of the event 20 before it."""
    found = []
    for t in range(first, last):
        found.append(json.dumps({"x": {"a": math.sin(t), "b": t % 3}, "id": f"e-{t}"}).encode())
        if t >= 20:
            y = ("low", "middle", "high")[(t - 20) % 3]
            found.append(json.dumps({"id": f"e-{t - 20}", "y": y}).encode())
    return found


class Run:
    """An `iln-stream run` of the log `log.db` with a page."""

    def __init__(self, folder: Path, *flags: str, page: bool = True, port: int = 0) -> None:
        own = ("--page-port", "0") if page else ()
        self.command = Command(
            folder, *("run", "--source", "sqlite:log.db", "--metrics-port", str(port), *own, *flags)
        )
        self.command.wait_until_it_says("metrics at")
        self.metrics_url = self._address(r"metrics at (\S+)/metrics")
        if page:
            self.command.wait_until_it_says("page at")
            self.url = self._address(r"page at (\S+)")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.command.kill()

    def learned(self, n: int) -> None:
        """Wait until it has taken all of `n` labelled events."""
        self.wait_for(lambda m: m.get("iln_labelled_events_total") == n)

    def wait_for(self, holds: Callable[[dict[str, float]], bool]) -> None:
        """Wait until the metrics fulfil a condition; first the learner may have to be compiled."""
        self.command.wait_for_metrics(holds, 240.0)

    def _address(self, pattern: str) -> str:
        found = re.search(pattern, self.command.said)
        assert found is not None
        return found[1]
