"""A folder of snapshots: who may write to it, under which names, and their blocks."""

import hashlib
import io
import logging
import math
import os
import re
import time
import uuid
from collections.abc import Callable, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import SnapshotError, StateError
from iln_stream.files import make_folder, open_stored, read_stored, sync_folder, write_whole
from iln_stream.snapshots.file import (
    CorruptSnapshotError,
    Snapshot,
    Stored,
    header_of,
    read_header,
)
from iln_stream.state import ArrayBlock

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    try:
        import msvcrt
    except ImportError:
        msvcrt = None  # type: ignore[assignment]


def lock_file(descriptor: int) -> None:
    """Lock an open file for this process, until the file is closed.

    A system that has neither Unix's nor Windows' locks gets none: there, epochs alone keep two runs
    apart.

    Raises
    ------
    BlockingIOError
        If another process has locked it.

    """
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    elif msvcrt is not None:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(*error.args) from error


log = logging.getLogger(__name__)

_SPARED = 3600.0
"""Seconds for which a block without a snapshot is kept: another run may be about to write one."""


class BlockFolder:
    """A folder of arrays in numpy's npy format, each in a file named by its checksum.

    Each has a copy in the folder `copies` there: all snapshots that are kept may need it. It is
    created with the first block.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._folders = path, path / "copies"

    def put(self, block: ArrayBlock) -> tuple[str, int]:
        """Store a block durably; return its name and the bytes written, 0 if it was there intact.

        Its name is durable only after `sync`. A block that this process has stored is not compared
        with its files again, which would take longer than everything else.
        """
        if block.stored_as is not None and self._has(*block.stored_as):
            return block.stored_as[0], 0
        file = io.BytesIO()
        np.lib.format.write_array(file, np.asarray(block), allow_pickle=False)
        data = file.getbuffer()
        name = hashlib.sha256(data).hexdigest()
        written = 0
        for folder in self._folders:
            final = folder / f"{name}.npy"
            try:
                os.utime(final)  # so that no other run takes it for an old one
                if read_stored(final) == data:
                    continue
            except OSError:  # it is not there, or can't be read: the new file takes its place
                make_folder(folder)
            partial = folder / f"{name}.{uuid.uuid4().hex}.partial"
            write_whole(final, lambda file: file.write(data), partial)
            written += len(data)
        block.stored_as = (name, len(data))
        return name, written

    def sync(self) -> None:
        """Make the names of blocks durable."""
        for folder in self._folders:
            if folder.is_dir():  # also where an earlier attempt wrote the blocks
                sync_folder(folder)

    def _has(self, name: str, size: int) -> bool:
        """Return whether a block's files are there, and note that it is needed."""
        finals = [folder / f"{name}.npy" for folder in self._folders]
        try:
            for final in finals:
                os.utime(final)  # so that no other run takes it for an old one
            return all(final.stat().st_size == size for final in finals)
        except OSError:
            return False

    def get(self, name: str) -> NDArray[Any]:
        """Return the block of a name, or its copy.

        Raises
        ------
        StateError
            When neither is there as it was written.

        """
        problems = []
        for folder in self._folders:
            file = folder / f"{name}.npy"
            try:
                data = read_stored(file)
            except OSError as error:
                problems.append(
                    f"its block {file} can't be read: {error.strerror}; a copy of a snapshot needs "
                    f"a copy of the folder {self.path.name} beside it"
                )
                continue
            if hashlib.sha256(data).hexdigest() == name:
                if problems:
                    log.error("%s; its copy is whole", problems[0])
                array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
                return array
            problems.append(f"its block {file} is damaged")
        raise StateError(problems[0])

    def remove_except(self, names: Set[str], spared: float = _SPARED) -> None:
        """Remove files other than the blocks of these names, unless they are new."""
        for file in (each for folder in self._folders for each in folder.glob("*.*")):
            with suppress(OSError):  # another process's housekeeping
                old = time.time() - file.stat().st_mtime > spared
                if old and file.name.removesuffix(".npy") not in names:
                    file.unlink()


_NAME = re.compile(r"(\d{6,})-(\d{20})\.snapshot")
_CLAIM = re.compile(r"epoch-(\d{6,})")
_CLAIMS_KEPT = 100
_BLOCKS = "blocks"

Result = TypeVar("Result")


class SnapshotId(NamedTuple):
    """Epoch and offset in a snapshot's name; the greater of two ids is the newer."""

    epoch: int
    next_offset: int

    @property
    def name(self) -> str:
        """The file's name."""
        return f"{self.epoch:06}-{self.next_offset:020}.snapshot"


class SnapshotFolder:
    """The snapshots of one learner, of one partition or several, in a folder of their own.

    A file is written under another name, made durable, and then renamed: it is whole or not there.
    Its name says (epoch, offset). Each run claims an epoch of its own by creating a file that must
    not exist, so a run that was stopped and continued can't replace what a later run wrote, even
    where the lock doesn't hold (on a network file system, or another host).

    Blocks, arrays of a state that never change, are stored once, in the folder `blocks`, before the
    first snapshot that refers to them, and removed after the last one. It is created if need be;
    the newest `keep` snapshots stay.
    """

    def __init__(self, path: Path, keep: int = 3) -> None:
        self.path = path
        self._keep = keep
        self._lock: int | None = None

    def lock(self) -> None:
        """Take the folder for this process.

        Raises
        ------
        SnapshotError
            When another process has it, or it can't be written to.

        """
        self._attempt(lambda: make_folder(self.path))
        lock = self._attempt(lambda: os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644))
        try:
            lock_file(lock)
        except BlockingIOError:
            os.close(lock)
            raise SnapshotError(
                f"snapshots: another process learns with {self.path}; stop it first, or give this "
                "one a folder of its own"
            ) from None
        self._lock = lock
        for leftover in self.path.glob("*.partial"):
            self._attempt(leftover.unlink)

    def unlock(self) -> None:
        """Let other processes have the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def claim_epoch(self) -> int:
        """Return a number above every earlier run's, which no other run gets."""
        claimed = sorted(int(found[1]) for found in self._matching(_CLAIM))
        epoch = max([*claimed, *(place.epoch for place in self.places())], default=0) + 1
        while not self._create(self.path / f"epoch-{epoch:06}"):
            epoch += 1
        # A crowd of later claims protects the oldest ones' numbers.
        for old in claimed[:-_CLAIMS_KEPT]:
            with suppress(OSError):
                (self.path / f"epoch-{old:06}").unlink()
        return epoch

    def places(self) -> list[SnapshotId]:
        """Return the ids of the snapshots, newest first."""
        found = (SnapshotId(int(name[1]), int(name[2])) for name in self._matching(_NAME))
        return sorted(found, reverse=True)

    def write(self, snapshot: Snapshot) -> int:
        """Store a snapshot durably, then delete all but the newest; return the bytes written.

        Raises
        ------
        SnapshotError
            When the disk doesn't take it; earlier snapshots are still there then.

        """
        place = SnapshotId(snapshot.header.epoch, snapshot.header.next_offset)
        partial = self.path / f"{place.name}.partial"
        size = self._attempt(lambda: _write_durably(partial, self.path / place.name, snapshot))
        for old in self.places()[self._keep :]:
            with suppress(OSError):  # somebody else's housekeeping
                (self.path / old.name).unlink()
        self._remove_old_blocks()
        return size

    def remove_others(self) -> int:
        """Remove all snapshots but the newest, and blocks of others; return how many there were."""
        others = self.places()[1:]
        for old in others:
            self._attempt((self.path / old.name).unlink)
        self._remove_old_blocks(spared=-math.inf)
        return len(others)

    def _remove_old_blocks(self, spared: float = _SPARED) -> None:
        """Remove blocks to which no snapshot refers; none if a snapshot can't be read."""
        needed: set[str] = set()
        try:
            for place in self.places():
                with open_stored(self.path / place.name) as file:
                    needed.update(read_header(file)["blocks"])
        except (OSError, CorruptSnapshotError, KeyError, TypeError):
            return
        BlockFolder(self.path / _BLOCKS).remove_except(needed, spared)

    def stored(self) -> list[Stored]:
        """Return what the headers say of the snapshots, oldest first; not of unreadable ones."""
        found = []
        for place in reversed(self.places()):
            with (
                suppress(OSError, CorruptSnapshotError),
                open_stored(self.path / place.name) as file,
            ):
                found.append(
                    Stored(header_of(read_header(file)), os.fstat(file.fileno()).st_size, None)
                )
        return found

    def newest(self) -> Snapshot | None:
        """Return the newest snapshot that is as it was written; None if there is none at all.

        Raises
        ------
        SnapshotError
            When there are snapshots and none can be read, or when the newest is of another major
            version.

        """
        places = self.places()
        for place in places:
            try:
                return self.read(place)
            except CorruptSnapshotError as error:
                log.error("snapshot %s is corrupt, falling back to the one before: %s",
                          self.path / place.name, error)  # fmt: skip
        if places:
            raise SnapshotError(
                f"no snapshot in {self.path} can be read: learn again from the log with "
                "`iln-stream rebuild`"
            )
        return None

    def read(self, place: SnapshotId) -> Snapshot:
        """Return the snapshot at a place."""
        return read_snapshot(self.path / place.name)

    def _matching(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        files = self._attempt(lambda: list(self.path.iterdir()))
        return [found for file in files if (found := pattern.fullmatch(file.name))]

    def _create(self, path: Path) -> bool:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        except FileExistsError:
            return False
        except OSError as error:
            raise self._error(error) from error
        self._attempt(lambda: sync_folder(self.path))
        return True

    def _attempt(self, action: Callable[[], Result]) -> Result:
        try:
            return action()
        except OSError as error:
            raise self._error(error) from error

    def _error(self, error: OSError) -> SnapshotError:
        return SnapshotError(
            f"snapshots: can't keep them in {error.filename2 or self.path}: {error.strerror}; mend "
            "that or choose another folder"
        )


def read_snapshot(file: Path) -> Snapshot:
    """Return the snapshot in a file.

    Raises
    ------
    CorruptSnapshotError
        When the file is not as it was written, or the disk can't read it.
    SnapshotError
        When it is of another major version, or there is no such file, or it must not be read.

    """
    try:
        data = read_stored(file)
    except OSError as error:
        known = isinstance(error, FileNotFoundError | PermissionError)
        kind = SnapshotError if known else CorruptSnapshotError
        raise kind(f"can't read {file}: {error.strerror}") from error
    try:
        return Snapshot.from_bytes(data, BlockFolder(file.parent / _BLOCKS).get)
    except CorruptSnapshotError as error:
        raise CorruptSnapshotError(f"{file}: {error}") from error
    except SnapshotError as error:
        raise SnapshotError(
            f"{file}: {error}; use a release that reads it, or learn again from the log with "
            "`iln-stream rebuild`"
        ) from error


def _write_durably(partial: Path, final: Path, snapshot: Snapshot) -> int:
    blocks = BlockFolder(final.parent / _BLOCKS)
    written = 0

    def store(block: ArrayBlock) -> str:
        nonlocal written
        name, n_bytes = blocks.put(block)
        written += n_bytes
        return name

    def write(file: BinaryIO) -> None:
        snapshot.write(file, store)
        blocks.sync()

    try:
        size = write_whole(final, write, partial).st_size
    except FileNotFoundError:
        if not final.parent.is_dir():
            raise
        # A later run took it for a leftover and swept it away.
        return _write_durably(partial, final, snapshot)
    sync_folder(final.parent)
    return size + written
