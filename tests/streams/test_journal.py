"""`Journal`: a durable order of runs."""

import resource
import zlib
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from iln_stream.errors import SnapshotError
from iln_stream.streams import Journal, PartitionRun, StreamPartition, read_journal

P, Q = StreamPartition("events", 0), StreamPartition("events", 1)


def test_a_torn_line_ends_the_journal(tmp_path):
    """A line that a crash left incomplete is ignored: its records were not learned."""
    path = tmp_path / "0.journal"
    journal = Journal(path, [PartitionRun(P, 5)])
    journal.append(PartitionRun(Q, 3))
    journal.sync()
    journal.close()
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        assert (
            read_journal(path, ["events"])
            == [PartitionRun(P, 5), PartitionRun(Q, 3)][: whole[:cut].count(b"\n")]
        )
    path.write_bytes(whole.replace(b":1 3", bytes(4)))  # a page that was not written
    assert read_journal(path, ["events"]) == [PartitionRun(P, 5)]
    assert read_journal(tmp_path / "none", ["events"]) == []


def test_a_journal_of_release_0_2_0(tmp_path):
    """It has numbers: below 0 those of the second log, of labels."""
    path = tmp_path / "0.journal"
    lines = [b"1 5", b"-1 3", b"-3 7"]
    path.write_bytes(b"".join(b"%s %08x\n" % (each, zlib.crc32(each)) for each in lines))
    first, second = StreamPartition("my labels", 0), StreamPartition("my labels", 2)
    expected = [PartitionRun(Q, 5), PartitionRun(first, 3), PartitionRun(second, 7)]
    assert read_journal(path, ["events", "my labels"]) == expected
    Journal(path, expected).close()
    assert read_journal(path, ["events", "my labels"]) == expected


@contextmanager
def room_for(n_bytes: int) -> Iterator[None]:
    """Limit the length of files: as on a full disk, a write is cut, and the next one fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_short_write_is_an_error_without_effect(tmp_path):
    """A full disk loses no line that was written, and leaves no part of one that was not."""
    path = tmp_path / "0.journal"
    journal = Journal(path, [PartitionRun(P, 5)])
    with room_for(path.stat().st_size + 3):
        with pytest.raises(SnapshotError, match=r"0\.journal: .*choose another folder"):
            journal.append(PartitionRun(P, 228))
        assert path.read_bytes() == PartitionRun(P, 5).line()
        with pytest.raises(SnapshotError, match=r"0\.journal: .*choose another folder"):
            Journal(path, [PartitionRun(P, 5), PartitionRun(Q, 3)])
    journal.append(PartitionRun(P, 9))
    journal.sync()
    journal.close()
    assert read_journal(path, ["events"]) == [PartitionRun(P, 5), PartitionRun(P, 9)]


def test_a_run_is_durable_once_synced(tmp_path, disk):
    """The file is durable before it gets its name, its name before it is used, and an appended run
    when `sync` returns: a power cut takes back no order in which records were learned."""
    path = tmp_path / "0.journal"
    journal = Journal(path, [PartitionRun(P, 5)])
    first = PartitionRun(P, 5).line()
    assert disk == [
        ("fsync", path.with_suffix(".partial"), first),
        ("rename", path, first),
        ("fsync", tmp_path, None),
    ]
    disk.clear()
    journal.append(PartitionRun(Q, 3))
    journal.sync()
    assert disk == [("fsync", path, first + PartitionRun(Q, 3).line())]
    journal.close()


def test_compaction(tmp_path, monkeypatch):
    """Compaction drops the runs that no snapshot needs, and keeps all others."""
    monkeypatch.setattr("iln_stream.streams.journal._COMPACT_FROM", 1_000)
    path = tmp_path / "0.journal"
    journal = Journal(path, [])
    for n in range(1, 2_000):
        journal.append(PartitionRun((P, Q)[n % 2], n))
        journal.sync()
        if n % 100 == 0:
            journal.forget({P: n - 50, Q: n - 50})
    journal.close()
    runs = read_journal(path, ["events"])
    assert path.stat().st_size < 10_000
    assert [run for run in runs if run.end > 1_850] == [
        PartitionRun((P, Q)[n % 2], n) for n in range(1_851, 2_000)
    ]


@pytest.mark.parametrize("runs", [2, 3])
def test_damage_is_refused(tmp_path, runs):
    """Damage that no crash causes, in the middle or in a whole last line, is an error that names
    the line: the records after it would be learned in another order than before."""
    path = tmp_path / "0.journal"
    Journal(path, [PartitionRun(P, 5), PartitionRun(Q, 3), PartitionRun(P, 9)][:runs]).close()
    path.write_bytes(path.read_bytes().replace(b":1 3", b":1 4"))
    with pytest.raises(SnapshotError, match=r"damaged in line 2.*iln-stream rebuild"):
        read_journal(path, ["events"])
    assert read_journal(path, ["events"], up_to_damage=True) == [PartitionRun(P, 5)]


def test_unwritable_folder(tmp_path):
    """If the file can't be written, the error names it and the remedy."""
    (tmp_path / "taken").touch()
    with pytest.raises(SnapshotError, match=r"taken/0\.journal: .*choose another folder"):
        Journal(tmp_path / "taken" / "0.journal", [])
