"""How the inner loops are compiled, and where their machine code is kept."""

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache

FAST = {"reassoc", "contract", "nsz", "arcp"}
"""Sums may be reordered and fused, so that they vectorise; infinities stay what they are."""

ERRORS = "numpy"
"""Dividing by zero gives an infinity: a loop that might raise would not vectorise."""

_NAME = "iln_stream-"
"""What the names of our folders begin with, in a cache that may be shared."""

_KEPT = 24 * 3600.0
"""Seconds for which the machine code of other sources is kept."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and keep the result on disk where there is a place to keep it.

    It is kept under a digest of all kernels: numba by itself looks at the function's own file, and
    would go on with the old code of functions that it calls in others. NUMBA_CACHE_DIR names the
    place, else it is `__pycache__`, or the user's cache. A container with a read-only file system
    may have none; it then compiles anew, a second or two, at each start.
    """
    dispatcher = njit(fastmath=FAST, error_model=ERRORS, forceinline=True)(function)
    with suppress(RuntimeError):  # there is no place
        dispatcher._cache = _Cache(function)  # as cache=True does, but for the folder
    return dispatcher  # type: ignore[no-any-return]


def cache_folder() -> str | None:
    """Return where compiled code is kept on disk; None where there is no place for it."""
    folder: str | None = compiled(lambda: None).stats.cache_path  # type: ignore[attr-defined]
    return folder


@cache
def _digest() -> str:
    """A digest of all that machine code is made of: the sources in this folder."""
    digest = hashlib.sha256()
    sources = sorted(Path(__file__).parent.glob("*.py"))
    if not sources:
        raise RuntimeError("without sources nobody can tell old machine code from new")
    for path in sources:
        source = path.read_bytes()
        digest.update(f"{path.name} {len(source)} ".encode())
        digest.update(source)
    return digest.hexdigest()[:16]


@cache
def _open(folder: str) -> None:
    """Make a folder, or find that it can be written to.

    Raises
    ------
    OSError
        When it can't.

    """
    new = not Path(folder).exists()
    Path(folder).mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
    os.utime(folder)
    if new:
        _remove_old(Path(folder).parent)


def _remove_old(base: Path) -> None:
    """Remove the folders of other sources that no process has opened for a day.

    One that runs for longer loses nothing by it: see `_Cache`.
    """
    for folder in base.glob(f"{_NAME}*"):
        with suppress(OSError):  # another process was faster
            if time.time() - folder.stat().st_mtime > _KEPT:
                shutil.rmtree(folder, ignore_errors=True)


class _InOurFolder:
    """A locator that adds a folder of ours to the one that numba would take."""

    def get_cache_path(self) -> str:
        return str(Path(super().get_cache_path(), _NAME + _digest()))  # type: ignore[misc]

    def ensure_cache_path(self) -> None:
        _open(self.get_cache_path())


class _Places(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes: ClassVar = [
        type(cls.__name__, (_InOurFolder, cls), {})
        for cls in CompileResultCacheImpl._locator_classes
    ]


class _Cache(FunctionCache):  # type: ignore[misc]
    _impl_class = _Places

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save machine code if that is possible: the folder may be gone, or the disk full."""
        with suppress(OSError):
            super().save_overload(sig, data)
