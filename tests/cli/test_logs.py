"""The log: readable, and told once."""

import io
import logging
import re
import warnings

import pytest
from rich.console import Console

from iln_stream.cli.logs import OncePerInterval, set_up_logging
from iln_stream.errors import IlnWarning


@pytest.fixture
def log(monkeypatch):
    """Set logging up on a console; return what it shows. Afterwards all is as it was."""
    root, kafka = logging.getLogger(), logging.getLogger("kafka")
    before = list(root.handlers), root.level, kafka.level
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)

    def begin(terminal):
        screen = io.StringIO()
        root.handlers.clear()  # pytest's own, too, or nothing would be set up
        set_up_logging(Console(file=screen, force_terminal=terminal, color_system=None, width=150))
        return screen

    yield begin
    logging.captureWarnings(False)
    root.handlers[:], root.level, kafka.level = before


def passes(quiet, message, *arguments, name="n"):
    return quiet.filter(logging.LogRecord(name, logging.ERROR, "f", 1, message, arguments, None))


def test_lines_for_a_collector(log):
    """Away from a terminal a line begins with its moment and level, unbroken and uncoloured."""
    screen = log(terminal=False)
    logging.getLogger("iln").info("long %s", "x" * 300)
    moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}"
    assert re.fullmatch(rf"{moment} INFO long x{{300}}\n", screen.getvalue())


def test_lines_for_a_person(log):
    """At a terminal a line tells the time of day and the message."""
    screen = log(terminal=True)
    logging.getLogger("iln").info("hello")
    assert re.match(r"\d\d:\d\d:\d\d INFO +hello", screen.getvalue())


@pytest.mark.parametrize("terminal", [True, False])
def test_warnings_without_their_code(log, terminal):
    """A warning is told as a sentence, without the file and line that gave it."""
    screen = log(terminal)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("max_draws binds", IlnWarning, stacklevel=1)
        warnings.warn("y lies outside", IlnWarning, stacklevel=1)
    assert "max_draws binds" in screen.getvalue()
    assert "y lies outside" in screen.getvalue(), "another warning was taken for a repeat"
    assert ".py" not in screen.getvalue()


def test_repeats_are_dropped():
    """A message passes once, whatever its details; another passes beside it."""
    quiet = OncePerInterval(seconds=1000)
    assert [passes(quiet, "no broker at %s", port) for port in range(3)] == [True, False, False]
    assert passes(quiet, "disk full")


def test_warnings_differ_by_their_text():
    """Captured warnings all come as "%s", and still are told apart."""
    quiet = OncePerInterval(seconds=1000)
    told = [passes(quiet, "%s", text, name="py.warnings") for text in "aab"]
    assert told == [True, False, True]


def test_told_again_after_a_while():
    """What lasts is told again once the interval is over."""
    quiet = OncePerInterval(seconds=0)
    assert passes(quiet, "no broker")
    assert passes(quiet, "no broker")
