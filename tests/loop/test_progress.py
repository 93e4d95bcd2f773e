"""Progress: a bar in a terminal, nothing elsewhere, or lines of the log."""

import io
import logging
import math
from time import perf_counter

import pytest
from rich.console import Console
from support.list_source import LIST

from iln_stream.loop import Step
from iln_stream.loop.progress import HistoryProgress, LoggedProgress, Progress
from iln_stream.records import DeadLetter

LETTER = DeadLetter.of("s", 0, 9, b"", "y: missing")


def step(y=3.0, **more):
    return Step(LIST, 0, None, None, {}, y, 1.0, None if y is None else 2.0, **more)


def progress(terminal, total=10):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=terminal, width=200, color_system=None)
    return screen, Progress("events.jsonl", total, console)


def last_drawing(screen):
    assert "events.jsonl" in screen.getvalue()
    return screen.getvalue().rpartition("events.jsonl")[2]


def test_silent_elsewhere():
    """Logs and pipes get no bars."""
    screen, bar = progress(terminal=False)
    bar.on_step(step())
    bar.on_dead_letter(LETTER)
    bar.close()
    assert screen.getvalue() == ""


def test_draws_in_a_terminal():
    """A terminal shows the title, how far we are, the windowed error and the dead letters."""
    screen, bar = progress(terminal=True)
    for _ in range(4):
        bar.on_step(step())
    bar.on_dead_letter(LETTER)
    bar.close()
    last = last_drawing(screen)
    assert "5/10" in last
    assert "last 500: MAE 2" in last
    assert "1 dead letters" in last


@pytest.mark.parametrize("total", [None, 0])
def test_no_known_end(total):
    """An endless or empty stream has a bar without end, and no made-up error."""
    screen, bar = progress(terminal=True, total=total)
    bar.on_step(step(y=None))
    bar.close()
    last = last_drawing(screen)
    assert "1/" in last
    assert f"last 500: MAE {math.nan}" in last
    assert "dead letters" not in last


def test_closed_unused():
    """A run that ends before its first event leaves a bar at 0, not an error."""
    screen, bar = progress(terminal=True)
    bar.close()
    assert "0/10" in screen.getvalue()


def test_lines_of_the_log(caplog):
    """A line has the number of events, no more often than the interval; a dead letter its own."""
    began = perf_counter()
    logged = LoggedProgress("h.csv", seconds=10.0)
    with caplog.at_level(logging.INFO):
        for offset in range(250):  # two events in a second
            logged.on_step(step(ended=began + offset / 2))
        logged.on_dead_letter(LETTER)
    lines = [record.message for record in caplog.records]
    assert lines.pop() == "h.csv: record 9 can't be learned: y: missing"
    assert 9 <= len(lines) <= 12
    assert all(line.endswith("events so far") for line in lines)


def test_events_of_a_history_are_counted():
    """An event counts once, also where its label comes late."""
    progress = HistoryProgress(n_files=1)
    for one in (step(), step(), step()._replace(late=True)):
        progress.on_step(one)
    assert [metric.read() for metric in progress.metrics()] == [2]
