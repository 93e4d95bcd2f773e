"""The order in which records of several partitions were learned, kept in a file."""

import logging
import os
import zlib
from collections.abc import Iterable, Mapping
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from iln_stream.errors import SnapshotError

log = logging.getLogger(__name__)

_COMPACT_FROM = 1 << 20
"""Bytes. A shorter journal is not worth writing anew."""


class Run(NamedTuple):
    """Records of one partition, next in the order: from where it was read to, up to `end`."""

    partition: int
    end: int

    def line(self) -> bytes:
        """Return the run as a line of the journal, with its checksum."""
        text = b"%d %d" % self
        return b"%s %08x\n" % (text, zlib.crc32(text))


class Journal:
    """An append-only file of runs, made durable before any of them is learned.

    Each process that takes over writes a journal of its own, beginning with the runs that are still
    of use, so that one thought dead can't write into it.

    Parameters
    ----------
    path
        Of the file.
    runs
        What it begins with.

    Raises
    ------
    SnapshotError
        When the disk doesn't take it.

    """

    def __init__(self, path: Path, runs: Iterable[Run]) -> None:
        self._path = path
        self._runs = list(runs)
        self._forgotten: Mapping[int, int] = {}
        self._write_anew()

    def append(self, run: Run) -> None:
        """Write down a run; `sync` makes it durable."""
        self._runs.append(run)
        try:
            self._size += self._file.write(run.line())
        except OSError as error:
            raise self._error(error) from error

    def sync(self) -> None:
        """Return when what was written down is durable."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._error(error) from error
        if self._size > _COMPACT_FROM and self._forgotten:
            forgotten, self._forgotten = self._forgotten, {}
            self._runs = after(self._runs, forgotten)
            self._file.close()
            self._write_anew()

    def forget(self, positions: Mapping[int, int]) -> None:
        """Let runs before these positions go; from any thread, carried out at a later `sync`."""
        self._forgotten = positions

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write_anew(self) -> None:
        partial = self._path.with_suffix(".partial")
        try:
            # Unbuffered: what could not be written is not tried again when it is closed.
            file = partial.open("wb", buffering=0)
            self._size = file.write(b"".join(run.line() for run in self._runs))
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
            f"snapshots: can't keep the order of the partitions in {self._path}: {error.strerror}; "
            "mend that or choose another folder"
        )


def read_journal(path: Path) -> list[Run]:
    """Return the runs in a file, up to the first line that was not written whole."""
    runs: list[Run] = []
    try:
        lines = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        return []
    for number, line in enumerate(lines):
        try:
            partition, end, checksum = line.split(b" ")
            run: Run | None = Run(int(partition), int(end))
        except ValueError:
            run, checksum = None, b""
        if run is None or run.line() != line + b"\n" or len(checksum) != 8:
            if any(lines[number + 1 :]):  # a crash tears only the last line
                log.error("%s is damaged in line %d; the order behind it is lost", path, number + 1)
            break
        runs.append(run)
    return runs


def after(runs: Iterable[Run], positions: Mapping[int, int]) -> list[Run]:
    """Return the runs that hold records at or after the positions.

    Examples
    --------
    >>> from iln_stream.streams.journal import Run, after
    >>> after([Run(0, 5), Run(1, 3), Run(0, 9)], {0: 7, 1: 3})
    [Run(partition=0, end=9)]

    """
    return [run for run in runs if run.end > positions.get(run.partition, 0)]
