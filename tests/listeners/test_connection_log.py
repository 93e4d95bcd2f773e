"""`ConnectionLog`: the outage of a broker in two sentences."""

import re

import pytest
from support.list_source import ListSource

from iln_stream.events import DeadLetter
from iln_stream.listeners import ConnectionLog
from iln_stream.prequential import Step

STEP = Step(0, 0, None, None, {}, 1.0, 0.0, 0.5)
LETTER = DeadLetter.of("s", 0, 9, b"", "no event")

COMES = {
    "step": lambda log: log.on_step(STEP),
    "letter": lambda log: log.on_dead_letter(LETTER),
    "repeat": lambda log: log.on_repeat(0, 7),
    "nothing": lambda log: log.on_idle(),
}


class Source(ListSource):
    """Counts how often it is asked whether it is connected."""

    def __init__(self):
        super().__init__([])
        self.is_there = True
        self.n_asked = 0

    @property
    def connected(self):
        self.n_asked += 1
        return self.is_there


@pytest.fixture
def source():
    return Source()


@pytest.fixture
def log(source, caplog):
    caplog.set_level("INFO", "iln_stream")
    return ConnectionLog(source, "the broker at h:9092")


def test_silent_while_connected(log, caplog):
    """Nothing is said of a broker that is there, records or none."""
    for come in COMES.values():
        come(log)
    assert caplog.messages == []


def test_away_is_said_once(source, log, caplog):
    """However long the broker is away, one sentence says so."""
    source.is_there = False
    for _ in range(10):
        log.on_idle()
    assert caplog.messages == ["the broker at h:9092 is away; waiting"]


@pytest.mark.parametrize("come", COMES.values(), ids=COMES.keys())
def test_return_is_said_once(source, log, caplog, monkeypatch, come):
    """Whatever comes first of a broker that is back tells so, with the seconds it was away."""
    clock = iter([100.0, 112.34])
    monkeypatch.setattr("iln_stream.listeners.connection_log.monotonic", lambda: next(clock))
    source.is_there = False
    log.on_idle()
    come(log)
    source.is_there = True
    come(log)
    come(log)
    assert caplog.messages[1:] == ["the broker at h:9092 is back after 12.3 s"]


def test_each_outage_is_said(source, log, caplog):
    """A second outage is no repeat of the first."""
    for there in (False, True, False, True):
        source.is_there = there
        log.on_idle()
    away, back = "is away; waiting", r"is back after 0\.0 s"
    assert len(caplog.messages) == 4
    for message, words in zip(caplog.messages, (away, back, away, back), strict=True):
        assert re.search(words, message)


def test_events_cost_nothing(source, log):
    """While the broker is there no record has the source asked."""
    for name in ("step", "letter", "repeat"):
        COMES[name](log)
    assert source.n_asked == 0
