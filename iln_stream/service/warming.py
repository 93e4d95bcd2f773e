"""Filling the cache of compiled functions before a learner needs them."""

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Self

from rich.console import Console

from iln_stream import errors
from iln_stream.learners.introspection import find_keyed
from iln_stream.learners.keyed.regressor import NAME as KEYED
from iln_stream.learners.keyed.regressor import exercise_keys
from iln_stream.learners.warming import N_FUNCTIONS, PARTS, PUBLIC, exercise, public_name
from iln_stream.loop.progress import Line
from iln_stream.service.learners import learners_of

log = logging.getLogger(__name__)

_TURN = threading.Lock()
"""Held by the thread in which a learner does everything once, in this process."""

_DONE: set[str] = set()
"""What this process has compiled and loaded."""

_ROOT = str(Path(errors.__file__).parents[1])


class Warming:
    """Compiles what a learner needs, if the cache lacks it, and loads it into this process.

    Processes of their own compile, so that this one goes on answering and can stop at once. If they
    fail, this one compiles.

    Parameters
    ----------
    name
        What to compile: a key of `iln_stream.learners.warming.PUBLIC`, or `KEYED`; None: nothing.
    report
        Called with each compiled function and the seconds it took.
    announce
        Called before anything is compiled, with whether it can be kept in the cache.
    line
        Shows the number of compiled functions; None: nothing does.

    """

    def __init__(
        self,
        name: str | None,
        report: Callable[[str, float], None],
        announce: Callable[[bool], None] = lambda _: None,
        line: Line | None = None,
    ) -> None:
        self.name = name
        self.n_compiled = 0
        self.is_done = name is None
        self._report = report
        self._announce = announce
        self._line = line
        self._processes: list[subprocess.Popen[str]] = []
        self._stopped = False
        self._turn = threading.RLock()  # a signal's handler may call `stop` at any time

    @classmethod
    def of(cls, learner: Any, console: Console | None = None) -> "Warming":
        """Return the one for a learner, which shows it; that of a learner not ours does nothing."""
        return cls.named(public_name(learner), console)

    @classmethod
    def named(cls, name: str | None, console: Console | None = None) -> "Warming":
        """Return the one of a name, which shows it at a terminal or logs it."""
        line = Line(console, N_FUNCTIONS.get(name or ""))
        return cls(name, partial(log.debug, "compiled %s in %.1f s"), _log_start, line)

    def run(self) -> None:
        """Compile and load everything; return soon after `stop`."""
        if self.name is None:
            return
        if self.name in _DONE:
            self.is_done = True
            return
        # Imported here, so that other commands do not wait for numba.
        from iln_stream.kernels.jit import cache_is_writable, is_marked, mark, reporting

        writable = cache_is_writable()
        if not is_marked(self.name):
            self._announce(writable)
            if writable and sys.executable and self.name in PUBLIC:
                self._compile(self.name)
        if self._stopped:
            return
        with _TURN, reporting(self._count):  # numba tells every listener of each compilation
            exercise_keys() if self.name == KEYED else exercise(self.name)
        if self._line is not None:
            self._line.close()
        if writable:
            mark(self.name)
        _DONE.add(self.name)
        self.is_done = True

    @property
    def total(self) -> int:
        """Number of functions to compile, about."""
        return max(self.n_compiled, N_FUNCTIONS.get(self.name or "", 0))

    def stop(self) -> None:
        """End the processes."""
        with self._turn:
            self._stopped = True
            for process in self._processes:
                process.kill()

    def _count(self, function: str, seconds: float) -> None:
        self.n_compiled += 1
        if self._line is not None:
            self._line.show(self.n_compiled, lambda: _progress(self.n_compiled, self.total))
        self._report(function, seconds)

    def _compile(self, name: str) -> None:
        parts = [[part] for part in PARTS.get(name, ())]
        if not parts or (os.cpu_count() or 1) == 1:
            parts = [[]]
        readers = []
        for part in parts:
            try:
                readers.append(threading.Thread(target=self._start(name, part), daemon=True))
            except OSError as error:
                log.warning("can't start a process that compiles: %s", error.strerror)
                continue
            readers[-1].start()
        try:
            for reader in readers:
                reader.join()
        except BaseException:
            self.stop()
            raise

    def _start(self, name: str, part: list[str]) -> Callable[[], None]:
        """Start a process; return the function that reads what it reports."""
        path = os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH"))))
        with self._turn:
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-P", "-m", "iln_stream.learners.warming", name, *part],
                env={**os.environ, "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
            self._processes.append(process)
            if self._stopped:
                process.kill()

        def read() -> None:
            assert process.stdout is not None
            with process.stdout:
                for line in process.stdout:
                    function, seconds = json.loads(line)
                    self._count(function, seconds)
            if process.wait() and not self._stopped:
                log.warning("a process that compiled ended with %s", process.returncode)

        return read


def _log_start(writable: bool) -> None:
    if writable:
        log.info("compiling the learner's loops, once per machine; `iln-stream warm` does it ahead")
    else:
        log.warning(
            "compiling the learner's loops, at each start: set NUMBA_CACHE_DIR to a folder that "
            "can be written to"
        )


class Warmings:
    """Compiles what several learners need, one after the other; see `Warming`."""

    def __init__(self, each: Sequence[Warming]) -> None:
        self._each = each

    @classmethod
    def of(cls, learner: Any, console: Console | None = None) -> Self:
        """Return those of a contest's learners, or of the only learner."""
        found = [each for one in learners_of(learner) for each in _of(one, console)]
        return cls(list({each.name: each for each in found}.values()))

    @property
    def is_done(self) -> bool:
        """Whether everything is compiled and loaded."""
        return all(each.is_done for each in self._each)

    @property
    def progress(self) -> str:
        """How far compiling is."""
        n = sum(each.n_compiled for each in self._each)
        return _progress(n, sum(each.total for each in self._each))

    def run(self) -> None:
        """Compile and load everything; return soon after `stop`."""
        for each in self._each:
            each.run()

    def stop(self) -> None:
        """End the processes that compile."""
        for each in self._each:
            each.stop()


def _progress(n: int, total: int) -> str:
    return f"compiling the learner's loops: {n} of about {total}"


def _of(learner: Any, console: Console | None) -> list[Warming]:
    """Return that of a learner; of a model by key, that of its global model, and its own."""
    if (keyed := find_keyed(learner)) is None:
        return [Warming.of(learner, console)]
    return [*_of(keyed.prior, console), Warming.named(KEYED, console)]
