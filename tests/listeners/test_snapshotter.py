"""The snapshotter: when it saves, and of which place."""

import threading
from time import perf_counter

import pytest

from iln_stream.errors import SnapshotError
from iln_stream.events import DeadLetter
from iln_stream.listeners import Snapshotter
from iln_stream.prequential import Step


class Saver:
    """Takes what is saved; busy or failed as told."""

    def __init__(self):
        self.saved, self.busy, self.failed = [], False, False

    def check(self):
        if self.failed:
            raise SnapshotError("disk full")

    def save(self, snapshot):
        self.saved.append(snapshot)

    def finish(self):
        self.check()


@pytest.fixture
def saver():
    return Saver()


def snapshotter(saver, events=10**9, seconds=10**9):
    """One whose snapshots are just their next offset."""
    return Snapshotter(lambda offset: offset, saver, events, seconds, next_offset=0)


def step(offset):
    return Step(offset, None, 1.0, 0.0, 0.5, False, 0.0, perf_counter())


def test_every_so_many_records(saver):
    """Steps, letters and repeats count alike, and the place is behind the last one."""
    listener = snapshotter(saver, events=3)
    listener.on_step(step(10))
    listener.on_dead_letter(DeadLetter.of("s", 0, 11, b"", "no event"))
    assert saver.saved == []
    listener.on_repeat(20)
    assert saver.saved == [21]
    listener.on_step(step(21))
    assert saver.saved == [21]


def test_every_so_many_seconds(saver):
    """When its time has come the next record or pause saves, and a pause alone never does."""
    listener = snapshotter(saver, seconds=0.05)
    threading.Event().wait(0.06)
    listener.on_idle()
    assert saver.saved == []
    listener.on_step(step(4))
    assert saver.saved == [5]


def test_one_at_a_time(saver):
    """While one is on its way the next waits, and then is of its own moment."""
    listener = snapshotter(saver, events=1)
    saver.busy = True
    listener.on_step(step(1))
    listener.on_step(step(2))
    assert saver.saved == []
    saver.busy = False
    listener.on_step(step(3))
    assert saver.saved == [4]


def test_failure_is_heard_at_the_next_record(saver):
    """The stream doesn't go on when its state can't be kept."""
    listener = snapshotter(saver)
    listener.on_step(step(1))
    saver.failed = True
    with pytest.raises(SnapshotError, match="disk full"):
        listener.on_step(step(2))
    with pytest.raises(SnapshotError, match="disk full"):
        listener.finish()


def test_finish(saver):
    """The end is saved if anything came since the last snapshot, or if asked for."""
    listener = snapshotter(saver)
    listener.finish()
    assert saver.saved == []
    listener.finish(always=True)
    listener.on_step(step(6))
    listener.finish()
    listener.finish()
    assert saver.saved == [0, 7]
