"""A file with the order of the records of several partitions, written before they are learned."""

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from iln_stream.errors import SnapshotError
from iln_stream.files import read_stored, sync_folder, write_whole
from iln_stream.streams.base import StreamPartition

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
        return _line(b"%s %d" % (os.fsencode(str(self.origin)), self.end))


def _line(text: bytes) -> bytes:
    return b"%s %08x\n" % (text, zlib.crc32(text))


class Journal:
    """An append-only file of runs; each run is made durable before it is learned.

    Every process writes its own journal, which starts with the runs that are still needed. So a
    process that was wrongly thought dead can't write into it. `runs` are the first ones of the
    file; `order_id` tells the order, which each restart continues, from that of another run.

    Raises
    ------
    SnapshotError
        When the file can't be written.

    """

    def __init__(self, path: Path, runs: Iterable[PartitionRun], order_id: str = "") -> None:
        self._path = path
        self._first = _line(b"order " + order_id.encode()) if order_id else b""
        self._runs = list(runs)
        # the offset before which it has had the order of each partition
        self.ends = dict(self._runs)
        self._forgotten: Mapping[StreamPartition, int] = {}
        self._rewrite()

    def append(self, *runs: PartitionRun) -> None:
        """Append runs; `sync` makes them durable. If that fails, none is appended."""
        try:
            self._size += _write_all(self._file, runs)
        except OSError as error:
            with suppress(OSError):  # a reader ignores a broken last line
                self._file.truncate(self._size)
            raise self._error(error) from error
        self._runs += runs
        self.ends.update(runs)

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
        content = self._first + b"".join(run.line() for run in self._runs)
        try:
            write_whole(
                self._path, lambda file: file.write(content), self._path.with_suffix(".partial")
            )
            sync_folder(self._path.parent)
            # Unbuffered: `close` must not repeat a write that failed.
            self._file: FileIO = self._path.open("ab", buffering=0)
        except OSError as error:
            raise self._error(error) from error
        self._compacted = self._size = len(content)

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


def read_journal(
    path: Path, streams: Sequence[str], order_id: str = "", *, up_to_damage: bool = False
) -> list[PartitionRun]:
    """Return the runs in a file; a crash can have left the last line incomplete.

    Parameters
    ----------
    path
        The file; without one there are no runs.
    streams
        Names of the log of events and, if there is one, of that of labels.
    order_id
        Of the order to continue; empty: any.
    up_to_damage
        Whether to read a damaged file as far as it is whole.

    Raises
    ------
    SnapshotError
        When the file can't be read, has another order, or is damaged as no crash leaves it.

    """
    runs: list[PartitionRun] = []
    found = ""
    try:
        *lines, _ = read_stored(path).split(b"\n")
    except FileNotFoundError:
        lines = []
    except OSError as error:
        raise SnapshotError(
            f"the order of the partitions in {path} can't be read: {error.strerror}"
        ) from error
    for number, line in enumerate(lines):
        try:
            text, checksum = line.rsplit(b" ", 1)
            if checksum != b"%08x" % zlib.crc32(text):
                raise ValueError
            if text.startswith(b"order ") and b":" not in text:  # a run has a partition's name
                found = text.removeprefix(b"order ").decode()
                continue
            origin, end = os.fsdecode(text).rsplit(" ", 1)
            runs.append(PartitionRun(StreamPartition.read(origin, streams), int(end)))
        except ValueError:
            is_last = not any(lines[number + 1 :])
            if up_to_damage or (is_last and b"\0" in line):  # the page before was not written
                break
            raise SnapshotError(
                f"{path} is damaged in line {number + 1}, and the order in which the records after "
                "it were learned is lost: put back a copy of the whole folder, or learn the log "
                "again with `iln-stream rebuild`"
            ) from None
    if order_id not in ("", found):
        raise SnapshotError(
            f"{path} is missing, or has the order of another run than the snapshots beside it: put "
            "back a copy of the whole folder, or learn the log again with `iln-stream rebuild`"
        )
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
