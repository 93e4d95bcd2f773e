"""Filling the cache of compiled functions before a learner needs them."""

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from iln_stream import errors
from iln_stream.compiled.jit import cache_is_writable
from iln_stream.compiled.progress import is_marked, mark, reporting
from iln_stream.learners.warming import PARTS, exercise

log = logging.getLogger(__name__)

_ROOT = str(Path(errors.__file__).parents[1])


class Warming:
    """Compiles what a learner needs, if the cache lacks it, and loads it into this process.

    Processes of their own compile, so that this one goes on answering and can stop at once. If they
    fail, this one compiles.

    Parameters
    ----------
    name
        What to compile: a key of `iln_stream.learners.warming.PUBLIC`.
    report
        Called with each compiled function and the seconds it took.

    """

    def __init__(self, name: str, report: Callable[[str, float], None]) -> None:
        self.name = name
        self._report = report
        self._processes: list[subprocess.Popen[str]] = []
        self._stopped = False
        self._turn = threading.RLock()  # a signal's handler may call `stop` at any time

    @property
    def is_needed(self) -> bool:
        """Whether the cache lacks functions."""
        return not is_marked(self.name)

    def run(self) -> None:
        """Compile and load everything; return soon after `stop`."""
        if self.is_needed and cache_is_writable() and sys.executable:
            self._compile()
        if self._stopped:
            return
        with reporting(self._report):
            exercise(self.name)
        if cache_is_writable():
            mark(self.name)

    def stop(self) -> None:
        """End the processes."""
        with self._turn:
            self._stopped = True
            for process in self._processes:
                process.kill()

    def _compile(self) -> None:
        parts = [[part] for part in PARTS.get(self.name, ())]
        if not parts or (os.cpu_count() or 1) == 1:
            parts = [[]]
        readers = []
        for part in parts:
            try:
                readers.append(threading.Thread(target=self._start(part), daemon=True))
            except OSError as error:
                log.warning("can't start a process that compiles: %s", error.strerror)
                continue
            readers[-1].start()
        for reader in readers:
            reader.join()

    def _start(self, part: list[str]) -> Callable[[], None]:
        """Start a process; return the function that reads what it reports."""
        path = os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH"))))
        with self._turn:
            process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-P", "-m", "iln_stream.learners.warm_process", self.name, *part],
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
                    self._report(function, seconds)
            if process.wait() and not self._stopped:
                log.warning("a process that compiled ended with %s", process.returncode)

        return read
