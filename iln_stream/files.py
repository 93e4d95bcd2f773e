"""How stored files are written and read: whole, or an error without an effect."""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

LARGEST_STORED = 1 << 32
"""Bytes of a stored file. A damaged folder may say that a file has any length."""


def open_stored(path: Path) -> BinaryIO:
    """Open a regular file to read. Anything else, such as a pipe, could block for ever.

    Raises
    ------
    OSError
        When there is no regular file, or it has more than `LARGEST_STORED` bytes.

    """
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        found = os.fstat(descriptor)
        _check_regular(found.st_mode, path)
        _check_size(found.st_size, path)
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_stored(path: Path) -> bytes:
    """Return the content of a regular file; see `open_stored`."""
    with open_stored(path) as file:
        return file.read()


def check_database(path: Path) -> None:
    """Raise an OSError if anything but a regular file is an SQLite database or belongs to it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        file = path.with_name(path.name + suffix)
        with suppress(FileNotFoundError):
            _check_regular(file.stat().st_mode, file)


def _check_regular(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file; move it away", str(path))


def _check_size(size: int, path: Path) -> None:
    if size > LARGEST_STORED:
        raise OSError(errno.EFBIG, f"{size:,} bytes; at most {LARGEST_STORED:,}", str(path))


def write_whole(
    path: Path,
    write: Callable[[BinaryIO], object],
    partial: Path | None = None,
    *,
    durably: bool = True,
) -> os.stat_result:
    """Write a file under another name and rename it; a file that exists is replaced.

    Its name is durable only once its folder is synchronised, too. `partial` is the other name, in
    the same folder; None: one that ends in the process's number. If `durably`, the content must be
    on the disk before it gets its name.

    Returns
    -------
    os.stat_result
        Of the new file.

    Raises
    ------
    OSError
        When the disk does not take all of it; the former file, or none, is there then.

    """
    partial = partial or path.with_name(f"{path.name}.{os.getpid()}.partial")
    partial.unlink(missing_ok=True)  # what is there may be a pipe or a link
    try:
        with partial.open("xb") as file:
            write(file)
            file.flush()
            if durably:
                os.fsync(file.fileno())
            found = os.fstat(file.fileno())
        _check_size(found.st_size, path)
        partial.rename(path)
    except BaseException:
        with suppress(OSError):
            partial.unlink()
        raise
    return found


def make_folder(path: Path) -> None:
    """Create a folder, and those above it, whose names are durable then; it may exist."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(exist_ok=True)
        sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable, where the system has a way to do it."""
    if os.name == "nt":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
