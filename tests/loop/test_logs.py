"""What listeners write to the run's log: promotions and outages."""

import logging
from time import perf_counter

import pytest
from support.list_source import LIST, ListSource

from iln_stream.loop import Details, Step
from iln_stream.loop.logs import ChampionLog, ConnectionLog
from iln_stream.records import Command, DeadLetter


def step(offset=0, time=None, **more):
    return Step(LIST, offset, None, time, {}, 1.0, 0.5, 0.1, **more)


def test_a_new_champion_is_logged_once(caplog):
    """Whoever reads the log sees which learner predicts, and since when; a late label says what
    predicted long ago."""
    champions = ChampionLog("orders")
    with caplog.at_level(logging.INFO):
        for offset, name in enumerate(("fast", "fast", "linear", "linear", "fast", "fast")):
            details = Details(contender=name)
            champions.on_step(step(offset, late=offset == 4, details=details))
    assert caplog.messages == [
        "orders: linear is the champion from offset 2 of list:0 on; before it was fast",
        "orders: fast is the champion from offset 5 of list:0 on; before it was linear",
    ]


COMES = {
    "step": lambda log: log.on_step(step()),
    "letter": lambda log: log.on_dead_letter(DeadLetter.of("s", 0, 9, b"", "no event")),
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


def test_silent_while_connected(source, log, caplog):
    """A connected broker is not logged, nor asked for each record more than once a second."""
    for come in COMES.values():
        come(log)
    assert caplog.messages == []
    assert source.n_asked == 1  # at the pause


@pytest.mark.parametrize("come", COMES.values(), ids=COMES.keys())
def test_an_outage_is_logged_at_its_start_and_end(source, log, caplog, monkeypatch, come):
    """However long it lasts; the first event, letter, repeat or pause after it logs its length. A
    second outage is logged like the first."""
    clock = iter([100.0, 112.34, 200.0, 200.0])
    monkeypatch.setattr("iln_stream.loop.logs.monotonic", lambda: next(clock))
    for connected in (False, True, False, True):
        source.is_connected = connected
        if not connected:
            log.on_idle()
        come(log)
        come(log)
    first, again, second, _ = caplog.messages
    assert first.startswith("the broker at h:9092 is unreachable; waiting ")
    assert again == "the broker at h:9092 is reachable again after 12.3 s"
    assert second == first


def test_an_outage_while_other_partitions_keep_the_loop_busy(source, log, caplog):
    """Events that go on do not hide for long that the broker of others is away."""
    source.is_connected = False
    log.on_step(step(ended=perf_counter() + 1.1))
    (message,) = caplog.messages
    assert message.startswith("the broker at h:9092 is unreachable; waiting ")
