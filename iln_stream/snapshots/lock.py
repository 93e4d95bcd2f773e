"""A lock on a file that ends with the process that holds it."""

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
