"""A lock on a file that ends with the process that holds it."""

import os

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    try:
        import msvcrt
    except ImportError:
        msvcrt = None  # type: ignore[assignment]


def lock(descriptor: int) -> None:
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


def sync_folder(path: str | os.PathLike[str]) -> None:
    """Make the names in a folder durable, where the system has a way to do it."""
    if os.name == "nt":
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
