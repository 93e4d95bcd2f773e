"""The folder for all that the tests fetch."""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path


def cache() -> Path:
    """Return the folder for all that the tests fetch."""
    chosen = os.environ.get("ILN_CACHE")
    return (Path(chosen) if chosen else Path.home() / ".cache" / "iln_stream").absolute()


def kept(name: str, fetch: Callable[[Path], None]) -> Path:
    """Return a folder of the cache, which `fetch` fills once; it is always whole."""
    folder = cache() / name
    if folder.is_dir():
        return folder
    with _locked(folder.parent / f"{name}.lock"):
        if not folder.is_dir():
            partial = folder.parent / f"{name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            fetch(partial)
            partial.rename(folder)
    return folder


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Wait until no other process has the file locked, and lock it."""
    import fcntl  # where the tests fetch nothing, it need not exist

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
