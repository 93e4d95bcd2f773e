"""A file with the order of the records of several partitions, written before they are learned."""

import logging
import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from iln_stream.errors import SnapshotError
from iln_stream.streams.base import StreamPartition

log = logging.getLogger(__name__)

_COMPACT_FROM = 1 << 20
"""Bytes. A shorter journal is not compacted."""

_GROWTH = 2
"""Nor is one that has not grown by this factor since, so that a long one is rewritten rarely."""


class PartitionRun(NamedTuple):
    """The next records in the order: those of one partition up to `end`, exclusive."""

    origin: StreamPartition
    end: int

    def line(self) -> bytes:
        """Return the run as a line of the journal, with its checksum."""
        text = b"%s %d" % (os.fsencode(str(self.origin)), self.end)
        return b"%s %08x\n" % (text, zlib.crc32(text))


class Journal:
    """An append-only file of runs; each run is made durable before it is learned.

    Every process writes its own journal, which starts with the runs that are still needed. So a
    process that was wrongly thought dead can't write into it.

    Parameters
    ----------
    path
        Path of the file.
    runs
        The first runs of the file.

    Raises
    ------
    SnapshotError
        When the file can't be written.

    """

    def __init__(self, path: Path, runs: Iterable[PartitionRun]) -> None:
        self._path = path
        self._runs = list(runs)
        self._forgotten: Mapping[StreamPartition, int] = {}
        self._rewrite()

    def append(self, *runs: PartitionRun) -> None:
        """Append runs; `sync` makes them durable. If that fails, none is appended."""
        try:
            self._size += _write_all(self._file, runs)
        except OSError as error:
            with suppress(OSError):  # a reader ignores a broken last line
                self._file.truncate(self._size)
                self._file.seek(self._size)
            raise self._error(error) from error
        self._runs += runs

    def sync(self) -> None:
        """Wait until all appended runs are durable."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._error(error) from error
        if self._size > max(_COMPACT_FROM, _GROWTH * self._compacted) and self._forgotten:
            forgotten, self._forgotten = self._forgotten, {}
            self._runs = after(self._runs, forgotten)
            self._file.close()
            self._rewrite()

    def forget(self, positions: Mapping[StreamPartition, int]) -> None:
        """Drop the runs before these positions at a later `sync`. Safe from any thread."""
        self._forgotten = positions

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _rewrite(self) -> None:
        partial = self._path.with_suffix(".partial")
        try:
            # Unbuffered: `close` must not repeat a write that failed.
            file = partial.open("wb", buffering=0)
            self._compacted = self._size = _write_all(file, self._runs)
            os.fsync(file.fileno())
            partial.rename(self._path)
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise self._error(error) from error
        self._file: FileIO = file

    def _error(self, error: OSError) -> SnapshotError:
        return SnapshotError(
            f"snapshots: can't write the order of the partitions to {self._path}: "
            f"{error.strerror}; correct this or choose another folder"
        )


def _write_all(file: FileIO, runs: Iterable[PartitionRun]) -> int:
    """Write runs, and return their size. One call may write a part, as when the disk is full."""
    data = memoryview(b"".join(run.line() for run in runs))
    left = data
    while left:
        left = left[file.write(left) :]
    return len(data)


def read_journal(path: Path, streams: Sequence[str]) -> list[PartitionRun]:
    """Return the runs in a file, up to the first damaged or incomplete line.

    `streams` are the names of the log of events and, if there is one, of that of labels.
    """
    runs: list[PartitionRun] = []
    try:
        *lines, _ = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    for number, line in enumerate(lines):
        try:
            text, checksum = line.rsplit(b" ", 1)
            if checksum != b"%08x" % zlib.crc32(text):
                raise ValueError
            origin, end = os.fsdecode(text).rsplit(" ", 1)
            runs.append(PartitionRun(StreamPartition.read(origin, streams), int(end)))
        except ValueError:
            if any(lines[number + 1 :]):  # a crash can damage only the last line
                log.error("%s is damaged in line %d; the order after it is lost", path, number + 1)
            break
    return runs


def after(
    runs: Iterable[PartitionRun], positions: Mapping[StreamPartition, int]
) -> list[PartitionRun]:
    """Return the runs with records at or after the positions.

    Examples
    --------
    >>> from iln_stream.streams import PartitionRun, StreamPartition, after
    >>> p, q = StreamPartition("events", 0), StreamPartition("events", 1)
    >>> after([PartitionRun(p, 5), PartitionRun(q, 3), PartitionRun(p, 9)], {p: 7, q: 3})
    [PartitionRun(origin=StreamPartition(stream='events', partition=0), end=9)]

    """
    return [run for run in runs if run.end > positions.get(run.origin, 0)]
