"""Progress: one line in a terminal, lines of the log elsewhere."""

import io
import itertools
import logging
import re

import pytest
from prometheus_client import CollectorRegistry
from rich.console import Console
from support.list_source import LIST, ListSource

from iln_stream.loop import Step
from iln_stream.loop.metrics import Metrics
from iln_stream.loop.progress import HistoryProgress, Progress
from iln_stream.records import DeadLetter

LETTER = DeadLetter.of("s", 0, 9, b"", "y: missing")


def step(y=3.0, **more):
    return Step(LIST, 0, None, None, {}, y, 1.0, None if y is None else 2.0, **more)


class Shown:
    """Progress on a screen, and what it watches."""

    def __init__(self, *, terminal, total=10, width=80, **more):
        self.screen = io.StringIO()
        console = Console(file=self.screen, force_terminal=terminal, width=width, color_system=None)
        watched = Metrics(CollectorRegistry(), 500).watch(None, ListSource([]), "m")
        self.progress = Progress(watched, console, total, **more)
        self.listeners = watched, self.progress

    def learn(self, *things):
        for each in things:
            for listener in self.listeners:
                name = "on_dead_letter" if isinstance(each, DeadLetter) else "on_step"
                getattr(listener, name)(each)

    @property
    def last(self):
        """The last line that was drawn."""
        lines = re.split(r"[\r\n]+|\x1b\[\d?[A-Z]", self.screen.getvalue())
        return [line.strip() for line in lines if "events" in line][-1]


@pytest.fixture
def clock(monkeypatch):
    """A clock that each look advances by a second."""
    ticks = itertools.count()
    monkeypatch.setattr("iln_stream.loop.progress.monotonic", lambda: float(next(ticks)))


def test_a_terminal_has_one_line(clock):
    """A terminal shows events, rate, the latest error beside the better baseline's, dead letters
    and, where the size is known, a bar. The line fits, and vanishes at the end."""
    shown = Shown(terminal=True)
    shown.learn(step(), step(), LETTER, step(), step())
    assert re.fullmatch(
        r"4 events, \d/s, MAE 2 \(running mean 0.75\), 1 dead letters ━.* +\d+% [\d:-]+", shown.last
    )
    assert len(shown.last) <= 80
    shown.progress.close()
    assert shown.screen.getvalue().endswith("\x1b[2K")
    assert "\n4 events" not in shown.screen.getvalue()


@pytest.mark.parametrize("total", [None, 0])
def test_no_known_end(total, clock):
    """An endless or empty stream has no bar, and no made-up error."""
    shown = Shown(terminal=True, total=total)
    shown.learn(step(y=None), step(y=None))
    assert re.fullmatch(r"2 events, \d/s, no label", shown.last)


def test_the_rate_after_idling(monkeypatch):
    """After idle minutes, the rate is that of the last seconds, not an average over the minutes."""
    now = [0.0]
    monkeypatch.setattr("iln_stream.loop.progress.monotonic", lambda: now[0])
    shown = Shown(terminal=True)
    for pause in (0.0, 600.0):
        now[0] += pause
        for _ in range(20):
            now[0] += 0.25
            shown.learn(step())
    assert re.match(r"40 events, 4/s", shown.last)


def test_closed_unused():
    """A run that ends before its first event draws nothing."""
    shown = Shown(terminal=True)
    shown.progress.close()
    assert shown.screen.getvalue() == ""


def test_lines_of_the_log(clock, caplog):
    """Elsewhere the log has a line each 30 seconds, and of files each dead letter; nothing is
    drawn."""
    shown = Shown(terminal=False, title="h.csv", logs_letters=True)
    with caplog.at_level(logging.INFO):
        shown.learn(*(step() for _ in range(100)), LETTER)
    assert shown.screen.getvalue() == ""
    *lines, letter = [record.message for record in caplog.records]
    assert letter == "h.csv: record 9 can't be learned: y: missing"
    assert 2 <= len(lines) <= 4
    pattern = r"h.csv: \d+ events, \d/s, MAE 2 \(running mean [\d.]+\)"
    assert all(re.fullmatch(pattern, line) for line in lines)


def test_the_log_says_once_that_the_run_is_up_to_date(clock, caplog, monkeypatch):
    """Not while records wait, as at a poll that is late; then once, whatever comes after it."""
    shown = Shown(terminal=False)
    with caplog.at_level(logging.INFO):
        for lag in (3, 0, 0, 2, 0):
            monkeypatch.setattr(ListSource, "lag", lag)
            shown.learn(step())
            shown.progress.on_idle()
    (said,) = [record.message for record in caplog.records]
    assert said.startswith("up to date: 2 events, ")


def test_events_of_a_history_are_counted():
    """An event counts once, also where its label comes late."""
    progress = HistoryProgress(1)
    for one in (step(), step(), step()._replace(late=True)):
        progress.on_step(one)
    assert [metric.read() for metric in progress.metrics()] == [2]
