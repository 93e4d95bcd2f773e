"""`Progress`: a bar in a terminal, and nothing elsewhere."""

import io
import math

import pytest
from rich.console import Console
from support.list_source import LIST

from iln_stream.loop import Step
from iln_stream.loop.progress import Progress
from iln_stream.records import DeadLetter

LETTER = DeadLetter.of("s", 0, 9, b"", "no event")


def step(y=3.0, y_pred=1.0):
    return Step(LIST, 0, None, None, {}, y, y_pred, None if y is None else 2.0)


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
    for _ in range(5):
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
