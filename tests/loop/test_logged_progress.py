"""`LoggedProgress`: progress as lines of the log."""

from __future__ import annotations

import logging
from time import perf_counter

import pytest
from support.list_source import LIST

from iln_stream.loop import Step
from iln_stream.loop.progress import LoggedProgress
from iln_stream.records import DeadLetter


def test_lines(caplog: pytest.LogCaptureFixture) -> None:
    """A line has the number of events, no more often than the interval; a dead letter its own."""
    began = perf_counter()
    progress = LoggedProgress("h.csv", seconds=10.0)
    with caplog.at_level(logging.INFO):
        for offset in range(250):  # two events in a second
            ended = began + offset / 2
            progress.on_step(Step(LIST, offset, None, None, {}, 1.0, 1.0, 0.0, ended=ended))
        progress.on_dead_letter(DeadLetter.of("h.csv", 0, 250, b"no", "y: missing"))
    lines = [record.message for record in caplog.records]
    assert lines.pop() == "h.csv: record 250 can't be learned: y: missing"
    assert 9 <= len(lines) <= 12
    assert all(line.endswith("events so far") for line in lines)
