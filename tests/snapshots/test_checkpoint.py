"""`Checkpoint`: when it saves, at which positions, and its metrics."""

import threading

import pytest

from iln_stream.errors import NotFiniteError, SnapshotError
from iln_stream.snapshots import Checkpoint, Header, Saver, SnapshotFolder, SnapshotId
from iln_stream.streams import Record

NOON = "2026-01-31T12:00:00.000+00:00"
NOON_POSIX = 1769860800


class RecordingSaver:
    """Takes what is saved; busy or failed as set."""

    newest = n_bytes = seconds = None

    def __init__(self):
        self.saved, self.busy, self.failed = [], False, False

    def check(self):
        if self.failed:
            raise SnapshotError("disk full")

    def save(self, snapshot, first=None):
        self.saved.append(snapshot.header.positions)
        self.first = first

    def finish(self):
        self.check()


@pytest.fixture
def saver():
    return RecordingSaver()


def header(positions):
    return Header("events", positions, None, 2, 1, {}, seed=1, saved_at=NOON)


def checkpoint(saver, events=10**9, seconds=10**9, positions=None, learner=lambda: {"n": 1}):
    parts = {"learner": learner, "pending": lambda: None}
    return Checkpoint(saver, header, parts, events, seconds, positions or {0: 0})


def passed(made, *offsets, partition=0):
    for offset in offsets:
        made.passed([Record(offset, None, partition)])


def test_every_so_many_records(saver):
    """The positions of a checkpoint are after the last record of each partition."""
    made = checkpoint(saver, events=3, positions={0: 0, 1: 5})
    passed(made, 10, 11)
    assert saver.saved == []
    passed(made, 20)
    assert saver.saved == [{0: 21, 1: 5}]
    passed(made, 7, partition=1)
    assert saver.saved == [{0: 21, 1: 5}]


def test_every_so_many_seconds(saver):
    """A due checkpoint is saved at the next record or pause, but not if no record came."""
    made = checkpoint(saver, seconds=0.05)
    threading.Event().wait(0.06)
    made.idle()
    assert saver.saved == []
    passed(made, 4)
    assert saver.saved == [{0: 5}]


def test_one_at_a_time(saver):
    """While one snapshot is being stored the next one waits, and then has the current state."""
    made = checkpoint(saver, events=1)
    saver.busy = True
    passed(made, 1, 2)
    assert saver.saved == []
    saver.busy = False
    passed(made, 3)
    assert saver.saved == [{0: 4}]


def test_failure_is_raised_at_the_next_record(saver):
    """The stream doesn't go on when its state can't be kept."""
    made = checkpoint(saver)
    passed(made, 1)
    saver.failed = True
    with pytest.raises(SnapshotError, match="disk full"):
        passed(made, 2)
    with pytest.raises(SnapshotError, match="disk full"):
        made.finish()


@pytest.fixture
def learner():
    """A learner's state: not finite while `broken`."""

    class Learner:
        broken = False

        def __call__(self):
            if self.broken:
                raise NotFiniteError("theta is not finite")
            return {"n": 1}

    return Learner()


def refused(made):
    """How many snapshots the metric counts as refused."""
    return {each.name: each.read() for each in made.metrics()}["iln_snapshots_refused_total"]


def test_a_state_that_is_not_finite_is_not_saved(saver, learner, caplog):
    """The last snapshot and its positions stay, the log says why, and the loop goes on; once the
    learner has healed, it is saved again. The end with such a state is an error, also when the last
    record was at the refused checkpoint.
    """
    made = checkpoint(saver, events=2, learner=learner)
    passed(made, 0, 1)
    learner.broken = True
    passed(made, 2, 3, 4)
    assert saver.saved == [{0: 2}]
    assert refused(made) == 1
    assert "theta is not finite; learning continues" in caplog.text
    learner.broken = False
    passed(made, 5)
    assert saver.saved == [{0: 2}, {0: 6}]
    made.finish()
    assert saver.saved == [{0: 2}, {0: 6}]
    learner.broken = True
    passed(made, 6, 7)
    with pytest.raises(NotFiniteError):
        made.finish()
    learner.broken = False
    made.finish()
    assert saver.saved == [{0: 2}, {0: 6}, {0: 8}]


def test_finish(saver):
    """`finish` saves if a record came since the last checkpoint, or if `always`."""
    made = checkpoint(saver)
    made.finish()
    assert saver.saved == []
    made.finish(always=True)
    passed(made, 6)
    made.finish()
    made.finish()
    assert saver.saved == [{0: 0}, {0: 7}]


def test_captures_every_part(saver):
    """A capture holds each part's state under its name, and the positions of that moment."""
    made = checkpoint(saver)
    passed(made, 6)
    snapshot = made.capture()
    assert snapshot.state == {"learner": {"n": 1}, "pending": None}
    assert snapshot.header.positions == {0: 7}
    passed(made, 7)
    assert snapshot.header.positions == {0: 7}


def value(made, name):
    """What is exported under a name."""
    (spec,) = (each for each in made.metrics() if each.name == f"iln_snapshot_{name}")
    return spec.read()


def test_only_what_is_stored_is_exported(tmp_path):
    """A snapshot that is on its way protects nothing yet, so it is not shown as there."""
    folder, stored, reported = SnapshotFolder(tmp_path), threading.Event(), []
    saver = Saver(folder, [lambda: stored.wait(30)], stored=reported.append)
    made = checkpoint(saver, events=10)
    passed(made, *range(12))
    assert saver.busy
    assert folder.places() == []
    assert value(made, "lag_records") == 12
    assert value(made, "last_success_timestamp_seconds") is None
    assert reported == []
    stored.set()
    saver.finish()
    assert value(made, "lag_records") == 2
    assert value(made, "last_success_timestamp_seconds") == NOON_POSIX
    assert value(made, "size_bytes") == (tmp_path / SnapshotId(1, 10).name).stat().st_size
    assert value(made, "duration_seconds") > 0
    assert reported == [header({0: 10})]


def test_a_restored_run_shows_the_snapshot_it_goes_on_from(tmp_path):
    """A run that begins with old state and can't save has an old snapshot, not none."""
    saver = Saver(SnapshotFolder(tmp_path), newest=header({0: 500}))
    made = checkpoint(saver, positions={0: 500})
    assert value(made, "last_success_timestamp_seconds") == NOON_POSIX
    assert value(made, "lag_records") == 0
    assert value(made, "size_bytes") is None
    passed(made, 503)
    assert value(made, "lag_records") == 4


def test_lost_records_are_no_unsaved_ones(tmp_path):
    """What retention deleted before it was learned can't be read again: the lag leaves it out."""
    saver = Saver(SnapshotFolder(tmp_path), newest=header({0: 500}))
    assert value(checkpoint(saver, positions={0: 800}), "lag_records") == 0


def test_what_is_beside_belongs_to_the_snapshot(saver, learner):
    """What is beside the snapshot is copied after it, and stored before it; not without one."""
    calls = []

    def beside():
        calls.append("copied")
        return lambda: calls.append("stored")

    made = Checkpoint(saver, header, {"learner": learner}, 2, 10**9, {0: 0}, beside)
    passed(made, 0, 1)
    saver.first()
    assert (calls, saver.saved) == (["copied", "stored"], [{0: 2}])
    learner.broken = True
    passed(made, 2, 3)
    assert calls == ["copied", "stored"]
