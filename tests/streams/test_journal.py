"""`Journal`: a durable order of runs."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from iln_stream.errors import SnapshotError
from iln_stream.streams import Journal, Run, read_journal


def test_a_torn_line_ends_the_journal(tmp_path):
    """A line that a crash left incomplete is ignored: its records were not learned."""
    path = tmp_path / "0.journal"
    journal = Journal(path, [Run(0, 5)])
    journal.append(Run(1, 3))
    journal.sync()
    journal.close()
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        assert read_journal(path) == [Run(0, 5), Run(1, 3)][: whole[:cut].count(b"\n")]
    path.write_bytes(whole.replace(b"1 3", b"1 4"))
    assert read_journal(path) == [Run(0, 5)]
    assert read_journal(tmp_path / "none") == []


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
    journal = Journal(path, [Run(0, 5)])
    with room_for(path.stat().st_size + 3):
        with pytest.raises(SnapshotError, match=r"0\.journal: .*choose another folder"):
            journal.append(Run(0, 228))
        assert path.read_bytes() == Run(0, 5).line()
        with pytest.raises(SnapshotError, match=r"0\.journal: .*choose another folder"):
            Journal(path, [Run(0, 5), Run(1, 3)])
    journal.append(Run(0, 9))
    journal.sync()
    journal.close()
    assert read_journal(path) == [Run(0, 5), Run(0, 9)]


def test_a_run_is_durable_once_synced(tmp_path, disk):
    """The file is durable before it gets its name, its name before it is used, and an appended run
    when `sync` returns: a power cut takes back no order in which records were learned."""
    path = tmp_path / "0.journal"
    journal = Journal(path, [Run(0, 5)])
    first = Run(0, 5).line()
    assert disk == [
        ("fsync", path.with_suffix(".partial"), first),
        ("rename", path, first),
        ("fsync", tmp_path, None),
    ]
    disk.clear()
    journal.append(Run(1, 3))
    journal.sync()
    assert disk == [("fsync", path, first + Run(1, 3).line())]
    journal.close()


def test_compaction(tmp_path, monkeypatch):
    """Compaction drops the runs that no snapshot needs, and keeps all others."""
    monkeypatch.setattr("iln_stream.streams.journal._COMPACT_FROM", 1_000)
    path = tmp_path / "0.journal"
    journal = Journal(path, [])
    for n in range(1, 2_000):
        journal.append(Run(n % 2, n))
        journal.sync()
        if n % 100 == 0:
            journal.forget({0: n - 50, 1: n - 50})
    journal.close()
    runs = read_journal(path)
    assert path.stat().st_size < 10_000
    assert [run for run in runs if run.end > 1_850] == [Run(n % 2, n) for n in range(1_851, 2_000)]


def test_damage_before_the_end_is_logged(tmp_path, caplog):
    """Damage in the middle, which no crash causes, is logged with its line."""
    path = tmp_path / "0.journal"
    Journal(path, [Run(0, 5), Run(1, 3), Run(0, 9)]).close()
    path.write_bytes(path.read_bytes().replace(b"1 3", b"1 4"))
    assert read_journal(path) == [Run(0, 5)]
    assert "is damaged in line 2" in caplog.text


def test_unwritable_folder(tmp_path):
    """If the file can't be written, the error names it and the remedy."""
    (tmp_path / "taken").touch()
    with pytest.raises(SnapshotError, match=r"taken/0\.journal: .*choose another folder"):
        Journal(tmp_path / "taken" / "0.journal", [])
