"""Cells: in processes of their own, and whatever a learner does is a finding."""

import os
import signal

import pytest
from river import base

from benchmarks.own_process import send_figures
from benchmarks.quality import cell as process
from benchmarks.quality.cell import Cell, measured
from benchmarks.quality.learners import CONTENDERS, Contender
from benchmarks.quality.unavailable import UnavailableError

CELL = Cell("regression", "river-linear", "airline-passengers", 1)


class Misbehaving(base.Regressor):
    """Does something to its process."""

    def __init__(self, what):
        self.what = what

    def learn_one(self, x, y):
        pass

    def predict_one(self, x):
        self.what()
        return float("nan")


def raises():
    raise OverflowError("too far")


def test_a_cell_is_the_same_in_a_process_of_its_own():
    """The figures are those of the measure, run where nothing else was."""
    there, here = process.run(CELL, time_limit=120), measured(CELL)
    assert there["ratio"] == here["ratio"]
    figures = {"ratio", "mae", "rmse_ratio", "rmse", "events_per_s", "longest_ms", "memory_mb"}
    assert set(there) == set(here) == figures


@pytest.fixture
def misbehaving(monkeypatch):
    def install(what):
        # A fork of this process has the learner, which a process from the fork server has not.
        made = Contender("misbehaving", "", "online", lambda seed: Misbehaving(what))
        monkeypatch.setitem(CONTENDERS, "misbehaving", made)
        return CELL._replace(learner="misbehaving")

    return install


def in_a_fork(cell):
    """What the process sends; None if nothing."""
    import multiprocessing

    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=send_figures, args=(measured, cell, sending))
    child.start()
    sending.close()
    try:
        return receiving.recv()
    except EOFError:
        return None
    finally:
        child.join(30)


def test_an_exception_is_a_finding(misbehaving):
    """A learner that raises has failed, with its own words, and the suite goes on."""
    assert in_a_fork(misbehaving(raises)) == {"failed": "OverflowError: too far"}


def test_a_prediction_that_is_no_number_is_a_finding(misbehaving):
    """A learner that explodes has failed, and where is said."""
    found = in_a_fork(misbehaving(lambda: None))
    assert found == {"failed": "ExplodedError: predicts nan at event 2"}


def test_a_killed_process_sends_nothing(misbehaving):
    """As the kernel does when memory runs out: the pipe just ends, which `run` tells."""
    assert in_a_fork(misbehaving(lambda: os.kill(os.getpid(), signal.SIGKILL))) is None


def test_time_limit():
    """A cell that takes too long has failed."""
    assert process.run(CELL, time_limit=0.0) == {"failed": "took longer than 0 s"}


def test_changed_events_are_not_measured(monkeypatch):
    """Figures of other events never come under a stream's id."""
    changed = process.STREAMS[CELL.stream].__class__(
        CELL.stream, "ten", "", lambda: iter([({"a": 1.0}, 1.0)]), checksum="0"
    )
    monkeypatch.setitem(process.STREAMS, CELL.stream, changed)
    with pytest.raises(process.StreamChangedError, match="airline-passengers has checksum"):
        measured(CELL)


def test_what_is_not_there_is_no_failure(monkeypatch):
    """A stream whose file is missing is left out, not counted against the learner."""
    monkeypatch.delenv("ILN_DATA", raising=False)
    with pytest.raises(UnavailableError, match="set ILN_DATA"):
        process.run(CELL._replace(stream="kin8nm"), time_limit=120)
