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

from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.extending import register_jitable

from iln_stream.compiled.inlining import InliningDispatcher
from iln_stream.compiled.notice import register
from iln_stream.processor import VARIABLE

FAST = {"reassoc", "contract", "nsz", "arcp"}
"""Sums may be reordered and fused, so that they vectorise; infinities are preserved."""

ERRORS = "numpy"
"""Division by zero gives an infinity: a loop that can raise would not vectorise."""

_OPTIONS = {
    "nopython": True,
    "boundscheck": None,
    "fastmath": FAST,
    "error_model": ERRORS,
    "forceinline": True,
}

_NAME = "iln_stream-"
"""Prefix of our folders' names, in a cache that may be shared."""

_KEPT = 24 * 3600.0
"""Seconds to keep machine code compiled from other sources."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and cache the result on disk if a cache folder is writable.

    The folder is named by a digest of all kernels: numba alone checks only the function's own
    file, and would keep using stale code of functions called from other files. The cache is in
    NUMBA_CACHE_DIR if set, else in `__pycache__`, or in the user's cache. A container with a
    read-only file system may have none; it then compiles anew at each start. `iln-stream warm`
    fills the cache.
    """
    return _cached(InliningDispatcher(function, _OPTIONS))


def compiled_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """Do `compiled`'s work, but once for arrays of all layouts: loops read no entries in order."""
    return _cached(InliningDispatcher(function, _OPTIONS, any_layout=True))


def _cached(dispatcher: InliningDispatcher) -> Callable[..., Any]:
    with suppress(RuntimeError):  # no cache folder is writable
        # Like cache=True, except for the folder.
        dispatcher._cache = _Cache(dispatcher.py_func)
    return dispatcher


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let compiled functions call a short function that Python calls without compiling it."""
    return register_jitable(error_model=ERRORS)(function)  # type: ignore[no-any-return]


def cache_folder() -> str | None:
    """Return the folder where compiled code is cached; None if no cache folder is writable."""
    folder: str | None = compiled(lambda: None).stats.cache_path  # type: ignore[attr-defined]
    return folder


def cache_is_writable() -> bool:
    """Whether newly compiled code can be cached: an image's folder, once filled, is only read."""
    folder = cache_folder()
    if folder is None:
        return False
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


@cache
def _digest() -> str:
    """A digest of the machine code's sources: all files in this folder, and the CPU baseline."""
    digest = hashlib.sha256(os.environ.get(VARIABLE, "").encode())
    sources = sorted(Path(__file__).parent.glob("*.py"))
    if not sources:
        raise RuntimeError("kernel sources are missing: without them stale code goes undetected")
    for path in sources:
        source = path.read_bytes()
        digest.update(f"{path.name} {len(source)} ".encode())
        digest.update(source)
    return digest.hexdigest()[:16]


@cache
def _open(folder: str) -> None:
    """Create a folder, or check that it is writable, or filled when an image was built.

    Raises
    ------
    OSError
        When the folder can't be created or written to, and is empty.

    """
    new = not Path(folder).exists()
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        if not any(Path(folder).glob("*.nbi")):
            raise
        return
    if new:
        _remove_old(Path(folder).parent)


def _remove_old(base: Path) -> None:
    """Remove folders of other sources that no process has opened for a day.

    A process that runs for longer loses nothing: see `_Cache`.
    """
    for folder in base.glob(f"{_NAME}*"):
        with suppress(OSError):  # another process was faster
            if time.time() - folder.stat().st_mtime > _KEPT:
                shutil.rmtree(folder, ignore_errors=True)


class _InOurFolder:
    """A locator that appends our folder to the path that numba would use."""

    def get_cache_path(self) -> str:
        return str(Path(super().get_cache_path(), _NAME + _digest()))  # type: ignore[misc]

    def ensure_cache_path(self) -> None:
        _open(self.get_cache_path())

    def get_source_stamp(self) -> str:
        return _digest()  # not the file's time, which is rounded where an image is unpacked


class _Places(CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes: ClassVar = [
        type(cls.__name__, (_InOurFolder, cls), {})
        for cls in CompileResultCacheImpl._locator_classes
    ]


class _Cache(FunctionCache):  # type: ignore[misc]
    _impl_class = _Places

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save machine code if possible: the folder may be gone, or the disk full."""
        with suppress(OSError):
            super().save_overload(sig, data)


register()
