"""Tells a person who waits that loops are being compiled."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event
from numba.core.caching import NullCache

from iln_stream.compiled.inlining import InliningDispatcher

COMPILE = "numba:compile"
"""Name of numba's event that a function is compiled."""


class Notice(event.Listener):  # type: ignore[misc]
    """Writes one line to standard error, if a terminal or a notebook shows it.

    Parameters
    ----------
    after
        Seconds that compiling must have taken before: a function or two are no wait.

    """

    def __init__(self, after: float) -> None:
        self._after = after
        self._seconds = 0.0
        self._started = 0.0
        self._quiet = 0
        self._is_done = False

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Say nothing inside, where somebody else reports."""
        self._quiet += 1
        try:
            yield
        finally:
            self._quiet -= 1

    def on_start(self, event: Any) -> None:
        """Write the line if functions before this one took long."""
        dispatcher = event.data["dispatcher"]
        if not isinstance(dispatcher, InliningDispatcher):  # compiled for one of ours, or not ours
            return
        self._started = time.monotonic()
        if self._seconds < self._after or self._is_done or self._quiet:
            return
        self._is_done = True
        if _is_shown():
            how_often = "at each start" if isinstance(dispatcher._cache, NullCache) else "once"
            print(
                f"iln_stream compiles its loops for this processor, {how_often}: it takes "
                "up to two minutes",
                file=sys.stderr,
                flush=True,
            )

    def on_end(self, event: Any) -> None:
        """Add what this function took."""
        if isinstance(event.data["dispatcher"], InliningDispatcher):
            self._seconds += time.monotonic() - self._started


def _is_shown() -> bool:
    """Whether a person sees standard error at once: in a terminal or a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


notice = Notice(after=1.0)


def register() -> None:
    """Begin to look at what numba compiles in this process."""
    event.register(COMPILE, notice)
