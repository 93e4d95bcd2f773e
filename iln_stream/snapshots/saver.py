"""Saving beside the learning: a thread makes durable what the loop hands over."""

import threading
from collections.abc import Callable, Sequence
from time import monotonic

from iln_stream.snapshots.file import Header, Snapshot
from iln_stream.snapshots.folder import SnapshotFolder


class Saver:
    """Writes one snapshot at a time, in a thread.

    Parameters
    ----------
    folder
        Where they go.
    flushes
        Called before a snapshot is written; each returns when the predictions or dead letters that
        were handed over are stored, or raises. So no record is behind us whose output could be
        lost.
    newest
        Header of the newest snapshot that is stored already.
    stored
        Called, in the saver's thread, with the header of each snapshot that was stored.

    Attributes
    ----------
    newest : Header or None
        Of the newest snapshot that is stored.
    n_bytes : int or None
        Size of the last one that was stored here.
    seconds : float or None
        How long that took, the flushes included.

    """

    def __init__(
        self,
        folder: SnapshotFolder,
        flushes: Sequence[Callable[[], None]] = (),
        newest: Header | None = None,
        stored: Callable[[Header], None] | None = None,
    ) -> None:
        self._folder = folder
        self._flushes = tuple(flushes)
        self._stored = stored
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None
        self.newest = newest
        self.n_bytes: int | None = None
        self.seconds: float | None = None
        self.n_saved = 0
        self.failed = False

    @property
    def busy(self) -> bool:
        """Whether the last snapshot is still on its way."""
        return self._thread is not None and self._thread.is_alive()

    def check(self) -> None:
        """Raise what kept an earlier snapshot from being stored."""
        if self._error is not None:
            raise self._error

    def save(self, snapshot: Snapshot) -> None:
        """Begin to store a snapshot, which must not change any more."""
        self.finish()
        self._thread = threading.Thread(
            target=self._remembering, args=(snapshot,), name="snapshot", daemon=True
        )
        self._thread.start()

    def finish(self) -> None:
        """Return when the last snapshot is stored, or raise what kept it from being stored."""
        if self._thread is not None:
            self._thread.join()
        self.check()

    def _remembering(self, snapshot: Snapshot) -> None:
        try:
            self._store(snapshot)
        except BaseException as error:  # whatever it is, the loop has to hear of it
            self._error, self.failed = error, True

    def _store(self, snapshot: Snapshot) -> None:
        began = monotonic()
        for flush in self._flushes:
            flush()
        self.n_bytes = self._folder.write(snapshot)
        self.seconds = monotonic() - began
        self.newest = snapshot.header
        self.n_saved += 1
        if self._stored is not None:
            self._stored(snapshot.header)
