"""Writes versions on a thread, so that learning does not wait for the disk."""

import logging
import threading
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from iln_stream.publishing.capture import to_arrays
from iln_stream.publishing.file import Header, Identity, VersionFile

log = logging.getLogger(__name__)


class Writer:
    """Writes one version at a time.

    A version that can't be written is counted and logged, the first of several in a row only:
    publishing must not stop learning.

    Parameters
    ----------
    file
        Where to write.

    Attributes
    ----------
    written : Header or None
        The last version that was written.
    n_bytes : int or None
        Its size.
    seconds : float or None
        Time that it took, from when it was captured.
    identity : Identity or None
        Identifies the file that was written.
    busy : bool
        Whether a version is being written.
    failed : bool
        Whether the last version could not be written.
    n_failed : int
        Versions that could not be written.

    """

    def __init__(self, file: VersionFile) -> None:
        self._file = file
        self._queue: SimpleQueue[tuple[Header, dict[str, Any]] | None] = SimpleQueue()
        self._idle = threading.Event()
        self._idle.set()
        self._thread: threading.Thread | None = None
        self.written: Header | None = None
        self.identity: Identity | None = None
        self.n_bytes: int | None = None
        self.seconds: float | None = None
        self.failed = False
        self.n_failed = 0

    @property
    def busy(self) -> bool:
        """Whether a version is being written."""
        return not self._idle.is_set()

    def write(self, header: Header, copy: dict[str, Any]) -> None:
        """Start to write a copy of the learner; the last one must be written."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="publish", daemon=True)
            self._thread.start()
        self._idle.clear()
        self._queue.put((header, copy))

    def wait(self) -> None:
        """Wait until the last version is written, or has failed."""
        self._idle.wait()

    def close(self) -> None:
        """Finish the last version, and end the thread."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join()
            self._thread = None

    def failed_with(self, error: Exception) -> None:
        """Count a failure, and log it unless the last version failed, too."""
        self.n_failed += 1
        if not self.failed:
            log.error("can't publish %s: %s; learning continues, and the next versions are tried "
                      "without a message", self._file.path, error)  # fmt: skip
        self.failed = True

    def _run(self) -> None:
        while (job := self._queue.get()) is not None:
            began = perf_counter()
            try:
                self._write(*job)
            except Exception as error:  # a full disk, or a state that is not one
                self.failed_with(error)
            else:
                self.seconds = perf_counter() - began
            del job
            self._idle.set()

    def _write(self, header: Header, copy: dict[str, Any]) -> None:
        self.identity = self._file.write(header, to_arrays(copy, header.form))
        self.n_bytes = self.identity.size
        self.written = header
        if self.failed:
            log.info("published %s again", self._file.path)
        self.failed = False
