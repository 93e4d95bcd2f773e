"""`Saver`: stores a snapshot only after its outputs, and reports failures."""

import pytest

from iln_stream.errors import SinkError
from iln_stream.snapshots import Saver, SnapshotFolder, SnapshotId


def fail():
    raise SinkError("disk full")


@pytest.fixture
def folder(tmp_path):
    return SnapshotFolder(tmp_path)


def test_outputs_that_fail(folder, make):
    """Where the outputs can't be stored there is no snapshot, now or later, and an error."""
    saver = Saver(folder, [fail])
    saver.save(make())
    with pytest.raises(SinkError, match="disk full"):
        saver.finish()
    with pytest.raises(SinkError, match="disk full"):
        saver.check()
    with pytest.raises(SinkError, match="disk full"):
        saver.save(make())
    assert folder.places() == []


def test_one_after_the_other(folder, make):
    """Snapshots are stored in the order they were taken."""
    order = []
    saver = Saver(folder, [lambda: order.append(len(folder.places()))])
    for offset in (10, 20, 30):
        saver.save(make(epoch=1, next_offset=offset))
    saver.finish()
    assert order == [0, 1, 2]
    assert saver.newest.next_offset == 30


def test_recent_snapshots(folder, make):
    """It knows what is stored: by itself with size and time, and earlier by the files' headers."""
    saver = Saver(folder)
    for offset in (10, 20):
        saver.save(make(epoch=1, next_offset=offset))
    saver.finish()
    (folder.path / SnapshotId(1, 10).name).write_bytes(b"nonsense")
    first, second = saver.recent
    assert (first.header, second.header.next_offset) == (make(epoch=1, next_offset=10).header, 20)
    assert second.n_bytes == saver.n_bytes
    assert second.seconds == saver.seconds is not None
    assert list(Saver(folder).recent) == [second._replace(seconds=None)]


def test_what_is_beside_is_stored_between_outputs_and_snapshot(folder, make):
    """What a snapshot refers to is there before it, after the outputs; if not, neither is it."""
    calls = []

    def first():
        assert folder.places() == []
        calls.append("first")

    saver = Saver(folder, [lambda: calls.append("flush")])
    saver.save(make(epoch=1, next_offset=10), first)
    saver.finish()
    assert calls == ["flush", "first"]
    assert folder.places() == [SnapshotId(1, 10)]
    saver.save(make(epoch=1, next_offset=20), fail)
    with pytest.raises(SinkError):
        saver.finish()
    assert folder.places() == [SnapshotId(1, 10)]
