"""`ConnectionLog`: one line at the start of an outage, and one at its end."""

import re
from time import perf_counter

import pytest
from support.list_source import LIST, ListSource

from iln_stream.loop import Step
from iln_stream.loop.logs import ConnectionLog
from iln_stream.records import Command, DeadLetter

STEP = Step(LIST, 0, None, None, {}, 1.0, 0.0, 0.5)
LETTER = DeadLetter.of("s", 0, 9, b"", "no event")

COMES = {
    "step": lambda log: log.on_step(STEP),
    "letter": lambda log: log.on_dead_letter(LETTER),
    "repeat": lambda log: log.on_repeat(LIST, 7),
    "command": lambda log: log.on_command(Command("list", 0, 8, None, "promote", "linear")),
    "nothing": lambda log: log.on_idle(),
}


class Source(ListSource):
    """Counts how often it is asked whether it is connected."""

    def __init__(self):
        super().__init__([])
        self.is_connected = True
        self.n_asked = 0

    @property
    def connected(self):
        self.n_asked += 1
        return self.is_connected


@pytest.fixture
def source():
    return Source()


@pytest.fixture
def log(source, caplog):
    caplog.set_level("INFO", "iln_stream")
    return ConnectionLog(source, "the broker at h:9092")


def test_silent_while_connected(log, caplog):
    """A connected broker is not logged, with or without records."""
    for come in COMES.values():
        come(log)
    assert caplog.messages == []


def test_outage_is_logged_once(source, log, caplog):
    """An outage is logged once, however long it lasts."""
    source.is_connected = False
    for _ in range(10):
        log.on_idle()
    (message,) = caplog.messages
    assert message.startswith("the broker at h:9092 is unreachable; waiting ")


@pytest.mark.parametrize("come", COMES.values(), ids=COMES.keys())
def test_reconnection_is_logged_once(source, log, caplog, monkeypatch, come):
    """The first event, letter, repeat or pause after an outage logs its length."""
    clock = iter([100.0, 112.34])
    monkeypatch.setattr("iln_stream.loop.logs.monotonic", lambda: next(clock))
    source.is_connected = False
    log.on_idle()
    come(log)
    source.is_connected = True
    come(log)
    come(log)
    assert caplog.messages[1:] == ["the broker at h:9092 is reachable again after 12.3 s"]


def test_each_outage_is_logged(source, log, caplog):
    """A second outage is logged like the first."""
    for connected in (False, True, False, True):
        source.is_connected = connected
        log.on_idle()
    lost, found = "is unreachable; waiting", r"is reachable again after 0\.0 s"
    assert len(caplog.messages) == 4
    for message, words in zip(caplog.messages, (lost, found, lost, found), strict=True):
        assert re.search(words, message)


def test_events_cost_nothing(source, log):
    """Records do not check the connection of a connected broker more than once a second."""
    for name in ("step", "letter", "repeat"):
        COMES[name](log)
    assert source.n_asked == 0


def test_an_outage_while_other_partitions_keep_the_loop_busy(source, log, caplog):
    """Events that go on do not hide for long that the broker of others is away."""
    source.is_connected = False
    ended = perf_counter() + 1.1
    log.on_step(STEP._replace(ended=ended))
    (message,) = caplog.messages
    assert message.startswith("the broker at h:9092 is unreachable; waiting ")
