"""A folder of snapshots: one writer, whole files, the newest good one."""

import errno
import logging
import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest
from snapshots.test_file import of_version

from iln_stream.errors import SnapshotError
from iln_stream.snapshots import CorruptSnapshotError, SnapshotFolder, SnapshotId


@pytest.fixture
def folder(tmp_path):
    """A folder that this process has locked."""
    opened = SnapshotFolder(tmp_path / "deep" / "events-0", keep=3)
    opened.lock()
    yield opened
    opened.unlock()


def files(folder):
    return sorted(file.name for file in folder.path.glob("*snapshot*"))


def test_newest_of_the_highest_epoch(folder, make):
    """A later run's snapshot counts, even if an earlier run had come further."""
    assert folder.newest() is None
    for epoch, offset in [(1, 900), (2, 100), (2, 50)]:
        folder.write(make(epoch=epoch, next_offset=offset))
    assert folder.newest().header == make(epoch=2, next_offset=100).header


def test_last_ones_are_kept(folder, make):
    """The newest stay, the others go, and nothing half-written is left."""
    for offset in range(10, 60, 10):
        folder.write(make(epoch=1, next_offset=offset))
    assert files(folder) == [SnapshotId(1, offset).name for offset in (30, 40, 50)]


def test_an_old_run_deletes_nothing_newer(folder, make):
    """Whoever writes in a lower epoch than others only loses its own."""
    for offset in (10, 20, 30):
        folder.write(make(epoch=5, next_offset=offset))
    folder.write(make(epoch=4, next_offset=99))
    assert folder.places() == [SnapshotId(5, offset) for offset in (30, 20, 10)]


def test_a_file_that_a_later_run_swept_away_is_written_again(folder, make, monkeypatch):
    """A run that was stopped while it wrote, and overtaken, goes on; nothing half-written stays."""
    rename, swept = Path.rename, []

    def sweep_first(partial, final):
        if not swept:
            swept.append(partial)
            (folder.path / "lock").unlink()  # as on another host
            successor = SnapshotFolder(folder.path)
            successor.lock()
            successor.unlock()
        return rename(partial, final)

    monkeypatch.setattr(Path, "rename", sweep_first)
    folder.write(make(epoch=1, next_offset=10))
    assert swept
    assert files(folder) == [SnapshotId(1, 10).name]
    assert folder.newest().header.next_offset == 10


def test_a_snapshot_is_durable_before_it_counts(folder, make, disk):
    """The whole file is on the disk before it gets its name, and its name before it is said to be
    stored: a power cut leaves no name without its content, and takes back nothing that was told."""
    folder.write(make(epoch=1, next_offset=10))
    final = folder.path / SnapshotId(1, 10).name
    assert disk == [
        ("fsync", Path(f"{final}.partial"), final.read_bytes()),
        ("rename", final, final.read_bytes()),
        ("fsync", folder.path, None),
    ]


def test_a_claim_is_durable(folder, disk):
    """A power cut doesn't take back an epoch, which a second run would claim again."""
    folder.claim_epoch()
    assert disk == [("fsync", folder.path, None)]


def test_corrupt_newest_falls_back_loudly(folder, make, caplog):
    """A damaged file costs what was learned after the one before, and it is said."""
    folder.write(make(epoch=1, next_offset=10))
    folder.write(make(epoch=1, next_offset=20))
    damaged = folder.path / SnapshotId(1, 20).name
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert folder.newest().header.next_offset == 10
    (message,) = caplog.messages
    assert caplog.records[0].levelno == logging.ERROR
    assert f"{damaged} is corrupt, falling back to the one before: " in message


@pytest.mark.parametrize("instead", [os.mkfifo, os.mkdir])
def test_no_regular_file(folder, make, instead):
    """A pipe or a folder in place of the newest snapshot is damage; it does not block, and neither
    does one in place of a file that is about to be written."""
    folder.write(make(epoch=1, next_offset=10))
    folder.write(make(epoch=1, next_offset=20))
    damaged = folder.path / SnapshotId(1, 20).name
    damaged.unlink()
    instead(damaged)
    assert folder.newest().header.next_offset == 10
    assert len(folder.stored()) == 1
    os.mkfifo(folder.path / f"{SnapshotId(1, 30).name}.partial")
    folder.write(make(epoch=1, next_offset=30))
    assert folder.newest().header.next_offset == 30


def test_nothing_but_corrupt_ones(folder, make):
    """Without any good snapshot nothing begins anew by itself; the remedy is named."""
    folder.write(make(epoch=1, next_offset=10))
    (folder.path / SnapshotId(1, 10).name).write_bytes(b"")
    with pytest.raises(SnapshotError, match=r"no snapshot in .* can be read: .*iln-stream rebuild"):
        folder.newest()


def test_newest_of_another_major_version(folder, make):
    """A snapshot of a later release isn't passed over for an older one."""
    folder.write(make(epoch=1, next_offset=10))
    folder.write(make(epoch=1, next_offset=20))
    file = folder.path / SnapshotId(1, 20).name
    file.write_bytes(of_version("9.0", file.read_bytes().partition(b"\n")[2]))
    with pytest.raises(SnapshotError, match=r"format is 9.*iln-stream rebuild") as caught:
        folder.newest()
    assert not isinstance(caught.value, CorruptSnapshotError)


def test_epochs_are_claimed_once(tmp_path):
    """Of many processes at once each gets an epoch of its own, above all that were seen."""
    folder = SnapshotFolder(tmp_path)
    (tmp_path / SnapshotId(41, 0).name).write_bytes(b"")
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as pool:
        claimed = pool.map(_claim, [folder] * 40)
    assert sorted(claimed) == list(range(42, 82))
    assert folder.claim_epoch() == 82


def _claim(folder):
    return folder.claim_epoch()


def _lock_and_wait(path, locked):
    SnapshotFolder(path).lock()
    locked.set()
    time.sleep(60)


def test_one_process_at_a_time(folder, tmp_path, make):
    """A second process is refused while the first lives, and let in when it was killed."""
    context = multiprocessing.get_context("fork")
    path, locked = tmp_path / "shared", context.Event()
    first = context.Process(target=_lock_and_wait, args=(path, locked))
    first.start()
    assert locked.wait(30)
    second = SnapshotFolder(path)
    with pytest.raises(SnapshotError, match=f"another process learns with {path}"):
        second.lock()
    os.kill(first.pid, signal.SIGKILL)
    first.join()
    second.lock()
    second.unlock()


def test_what_a_killed_process_left_is_swept(folder, make):
    """A half-written file is never taken for a snapshot, and goes at the next start."""
    half = folder.path / f"{SnapshotId(1, 10).name}.partial"
    half.write_bytes(b"iln-stream snapshot 3.0 sha")
    assert folder.newest() is None
    folder.unlock()
    folder.lock()
    assert not half.exists()


def test_full_disk(folder, make, monkeypatch):
    """When the disk takes no more it is said, earlier snapshots stay, and no half one is left."""
    folder.write(make(epoch=1, next_offset=10))

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SnapshotError, match=f"can't keep them in {folder.path}: No space left"):
        folder.write(make(epoch=1, next_offset=20))
    monkeypatch.undo()
    assert files(folder) == [SnapshotId(1, 10).name]
    assert folder.newest().header.next_offset == 10


@pytest.mark.parametrize("path", ["a file/below", "/proc/self/below", "/proc/self"])
def test_unwritable_folder(path, tmp_path):
    """A folder that can't be made or written to, not even by root, is told before anything is
    learned."""
    (tmp_path / "a file").write_bytes(b"")
    with pytest.raises(SnapshotError, match=rf"snapshots: can't keep them in .*{path}: "):
        SnapshotFolder(tmp_path / path).lock()
