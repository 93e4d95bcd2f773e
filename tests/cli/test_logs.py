"""The log: its formats, levels and filters."""

import copy
import datetime as dt
import io
import json
import logging
import re
import time
import warnings

import pytest
from rich.console import Console

from iln_stream.cli.logs import OncePerInterval, set_up_logging
from iln_stream.errors import IlnWarning


@pytest.fixture
def log(monkeypatch):
    """Return a function that sets up logging and returns the screen; restore logging afterwards."""
    loggers = [logging.getLogger(name) for name in (None, "iln_stream", "kafka", "httpx", "httpx2")]
    root, before = loggers[0], list(loggers[0].handlers)
    levels = [logger.level for logger in loggers]
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)

    def begin(terminal=False, **how):
        screen = io.StringIO()
        console = Console(file=screen, force_terminal=terminal, color_system=None, width=150)
        root.handlers.clear()  # pytest's own, too, or nothing would be set up
        set_up_logging(console, **how)
        return screen

    yield begin
    logging.captureWarnings(False)
    root.handlers[:] = before
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def passes(quiet, message, *arguments, name="n"):
    return quiet.filter(logging.LogRecord(name, logging.ERROR, "f", 1, message, arguments, None))


def test_lines_for_a_collector(log):
    """Outside a terminal a line begins with its time and level, without wrapping or colour; at one
    it shows the time of day, the level and the message."""
    screen = log(terminal=True)
    logging.getLogger("iln").info("hello")
    assert re.match(r"\d\d:\d\d:\d\d INFO +hello", screen.getvalue())
    screen = log(terminal=False)
    logging.getLogger("iln").info("long %s", "x" * 300)
    moment = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}"
    assert re.fullmatch(rf"{moment} INFO long x{{300}}\n", screen.getvalue())


def test_lines_of_workers(log):
    """Of several processes that write to one console, each line names its own."""
    screen = log(terminal=False, worker=1)
    logging.getLogger("iln").info("hello")
    assert screen.getvalue().endswith(" INFO [worker 1] hello\n")
    screen = log(terminal=False, worker=1, form="json")
    logging.getLogger("iln").info("hello")
    line = json.loads(screen.getvalue())
    assert (line["worker"], line["message"]) == (1, "hello")


@pytest.mark.parametrize("terminal", [True, False])
def test_objects_for_a_collector(log, terminal):
    """As JSON a record with its exception is one object in one line, also at a terminal."""
    screen = log(terminal, form="json")
    logging.getLogger("iln_stream.x").info("two\nlines, %s", "é \ud800")
    try:
        raise ValueError("oh")
    except ValueError:
        logging.getLogger("other").exception("it failed")
    first, second = map(json.loads, screen.getvalue().splitlines())
    age = dt.datetime.now(dt.UTC) - dt.datetime.fromisoformat(first.pop("time"))
    assert dt.timedelta(0) <= age + dt.timedelta(milliseconds=1) < dt.timedelta(seconds=30)
    assert first == {"level": "info", "logger": "iln_stream.x", "message": "two\nlines, é \ud800"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", second["time"])
    assert (second["level"], second["logger"], second["message"]) == (
        *("error", "other", "it failed"),
    )
    assert second["exception"].startswith("Traceback (most recent call last):")
    assert second["exception"].endswith("ValueError: oh")


@pytest.mark.parametrize(
    ("level", "form"), [("debug", "text"), ("info", "json"), ("error", "text")]
)
def test_level(log, level, form):
    """The log shows messages from the level up; at debug only our own loggers show debug
    messages."""
    screen = log(level=level, form=form)
    order = ["debug", "info", "warning", "error"]
    for each in order:
        logging.getLogger("iln_stream.x").log(getattr(logging, each.upper()), f"ours: {each}")
        logging.getLogger("numba.x").log(getattr(logging, each.upper()), f"theirs: {each}")
    shown = [each for each in order if f"ours: {each}" in screen.getvalue()]
    assert shown == order[order.index(level) :]
    shown = [each for each in order if f"theirs: {each}" in screen.getvalue()]
    assert shown == order[max(1, order.index(level)) :]


def kafka_fails():
    """Log what the Kafka client logs about an unreachable broker, and about one that refuses."""
    client = logging.getLogger("kafka.net.transport")
    try:
        raise ConnectionResetError(104, "Connection reset by peer")
    except ConnectionResetError as error:
        client.exception("%s: Error receiving network data", "<KafkaSSLTransport [h:9092]>")
        client.error("Metadata refresh: failed %s", error)
    client.error("Connection failed: [SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed")


def test_kafka_client(log):
    """The Kafka client's errors about lost connections are dropped, but those about refused
    authentication are shown. At debug its whole log is shown, with repeats."""
    screen = log(level="error")
    kafka_fails()
    (line,) = screen.getvalue().splitlines()
    assert "certificate verify failed" in line
    screen = log(level="debug")
    for _ in range(2):
        kafka_fails()
    assert screen.getvalue().count("Traceback") == 2
    assert screen.getvalue().count("Metadata refresh: failed") == 2
    logging.getLogger("kafka.net").debug("reconnecting")
    assert "reconnecting" in screen.getvalue()


def test_set_up_again(log):
    """A second setup replaces the first, so that each line is shown once."""
    screen = log()
    set_up_logging(Console(file=screen), form="json")
    logging.getLogger("iln").warning("hello")
    assert json.loads(screen.getvalue())["message"] == "hello"


def test_warnings_without_their_code(log):
    """A warning is logged without the file and line that issued it."""
    screen = log()
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("max_draws binds", IlnWarning, stacklevel=1)
        warnings.warn("y lies outside", IlnWarning, stacklevel=1)
    assert "max_draws binds" in screen.getvalue()
    assert "y lies outside" in screen.getvalue(), "another warning was taken for a repeat"
    assert ".py" not in screen.getvalue()


def test_repeats_are_dropped():
    """A message passes once, whatever its arguments, until the interval ends; another message
    passes, too, as does the same one about another partition or, of warnings, with another text."""
    quiet = OncePerInterval(seconds=1000)
    assert [passes(quiet, "no broker at %s", port) for port in range(3)] == [True, False, False]
    assert passes(quiet, "disk full")
    passed = [passes(quiet, "%s", text, name="py.warnings") for text in "aab"]
    assert passed == [True, False, True]
    soon = OncePerInterval(seconds=0)
    assert passes(soon, "no broker")
    assert passes(soon, "no broker")
    text = "dead letter at offset %d of %s, partition %s: %s"
    letters = [(1, "t", 0, "a"), (2, "t", 0, "b"), (1, "t", 1, "a"), (5, "t", 1, "a")]
    assert [passes(quiet, text, *letter) for letter in letters] == [True, False, True, False]


def test_kinds_do_not_hide_each_other():
    """Messages of one template are no repeats if their kinds differ, as reasons of dead letters."""
    quiet = OncePerInterval(seconds=1000)

    def passes(kind):
        record = logging.LogRecord("n", logging.WARNING, "f", 1, "dead letter", (), None)
        record.kind = kind
        return quiet.filter(record)

    assert [passes(kind) for kind in ("no number", "no number", "no label", "no number")] == [
        *(True, False, True, False)
    ]


def test_dropped_repeats_are_counted():
    """The next line after the interval says how many were left out."""
    once = OncePerInterval(seconds=0.2)
    record = logging.LogRecord("n", logging.WARNING, "f", 1, "offset %d", (7,), None)
    assert [once.filter(copy.copy(record)) for _ in range(4)] == [True, False, False, False]
    time.sleep(0.3)
    assert once.filter(record)
    assert record.getMessage() == "offset 7 (3 such messages before it were not logged)"


def test_requests_to_the_registry(log):
    """The lines of the registry's client, one for each request, are shown at debug only."""
    for level, shown in (("debug", 2), ("info", 0)):
        screen = log(level=level)
        for client in ("httpx", "httpx2"):
            logging.getLogger(client).info("HTTP Request of %s: GET /schemas", client)
        assert screen.getvalue().count("HTTP Request") == shown
