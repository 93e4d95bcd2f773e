"""How the inner loops are compiled."""

from collections.abc import Callable
from typing import Any

from numba import njit

FAST = {"reassoc", "contract", "nsz", "arcp"}
"""Sums may be reordered and fused, so that they vectorise; infinities stay what they are."""

ERRORS = "numpy"
"""Dividing by zero gives an infinity: a loop that might raise would not vectorise."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile at the first call, and keep the result on disk where there is a place to keep it.

    A container with a read-only file system may have none (NUMBA_CACHE_DIR names one); it then
    compiles anew, a second or two, at each start.
    """
    options: dict[str, Any] = {"fastmath": FAST, "error_model": ERRORS, "forceinline": True}
    try:
        return njit(**options, cache=True)(function)  # type: ignore[no-any-return]
    except RuntimeError:
        return njit(**options)(function)  # type: ignore[no-any-return]


def cache_folder() -> str | None:
    """Return where compiled code is kept on disk; None where there is no place for it."""
    folder: str | None = compiled(lambda: None).stats.cache_path  # type: ignore[attr-defined]
    return folder
