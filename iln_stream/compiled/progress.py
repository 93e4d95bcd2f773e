"""Which functions are being compiled, and for which learners all are."""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
from numba.core import event
from numba.core.registry import cpu_target

from iln_stream.compiled.inlining import InliningDispatcher
from iln_stream.compiled.jit import cache_folder
from iln_stream.compiled.notice import COMPILE, notice


@contextmanager
def reporting(report: Callable[[str, float], None]) -> Iterator[None]:
    """Report each function that is compiled for calls from Python, and the seconds it took."""
    with notice.silent(), event.install_listener(COMPILE, _Listener(report)):
        yield


class _Listener(event.Listener):  # type: ignore[misc]
    def __init__(self, report: Callable[[str, float], None]) -> None:
        self._report = report
        self._started: list[float] = []

    def on_start(self, event: Any) -> None:
        self._started.append(time.monotonic())

    def on_end(self, event: Any) -> None:
        seconds = time.monotonic() - self._started.pop()
        if isinstance(event.data["dispatcher"], InliningDispatcher):
            function = event.data["dispatcher"].py_func
            module = function.__module__.rpartition(".")[2]
            self._report(f"{module}.{function.__name__}", seconds)


def mark(learner: str) -> None:
    """Note in the cache folder that everything this learner needs is there."""
    path = _mark(learner)
    if path is not None:
        path.write_text(learner)


def is_marked(learner: str) -> bool:
    """Whether everything this learner needs is in the cache, for this processor."""
    path = _mark(learner)
    return path is not None and path.exists()


def _mark(learner: str) -> Path | None:
    folder = cache_folder()
    if folder is None:
        return None
    target = cpu_target.target_context.codegen().magic_tuple()
    key = json.dumps([learner, target, numba.__version__, sys.implementation.cache_tag])
    return Path(folder, f"warm-{hashlib.sha256(key.encode()).hexdigest()[:16]}")
