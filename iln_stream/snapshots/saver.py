"""Saving in the background: a thread stores the snapshots that the loop takes."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic

from iln_stream.snapshots.file import Header, Snapshot, Stored
from iln_stream.snapshots.folder import SnapshotFolder

MOST_STORED = 20
"""Stored snapshots that a saver remembers."""


class Saver:
    """Writes one snapshot at a time, in a thread.

    Parameters
    ----------
    folder
        Folder of the snapshots.
    flushes
        Called before a snapshot is written; each returns when all predictions or dead letters so
        far are stored, or raises an error, so no stored position precedes its output.
    newest
        Header of the newest snapshot that is already stored; None: there is none.
    stored
        Called in the saver's thread with the header of each stored snapshot.

    Attributes
    ----------
    newest : Header or None
        Header of the newest stored snapshot.
    n_bytes : int or None
        Size of the last snapshot that this saver stored.
    seconds : float or None
        Time that it took, including the flushes.
    failed : bool
        Whether a snapshot could not be stored.
    recent : deque of Stored
        The last 20 snapshots, oldest first: those in the folder, and those that this saver stored.

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
        self.failed = False
        self.recent = deque(folder.stored(), maxlen=MOST_STORED)

    @property
    def busy(self) -> bool:
        """Whether a snapshot is being stored."""
        return self._thread is not None and self._thread.is_alive()

    def check(self) -> None:
        """Raise the error of a snapshot that could not be stored."""
        if self._error is not None:
            raise self._error

    def save(self, snapshot: Snapshot, first: Callable[[], None] | None = None) -> None:
        """Start to store a snapshot, which must not change from now on.

        `first`, if given, is called before it is written, after the flushes: what the snapshot
        refers to is stored when it returns.
        """
        self.finish()
        self._thread = threading.Thread(
            target=self._store_or_fail, args=(snapshot, first), name="snapshot", daemon=True
        )
        self._thread.start()

    def finish(self) -> None:
        """Wait until the last snapshot is stored; raise the error if it could not be."""
        if self._thread is not None:
            self._thread.join()
        self.check()

    def _store_or_fail(self, snapshot: Snapshot, first: Callable[[], None] | None) -> None:
        try:
            self._store(snapshot, first)
        except BaseException as error:  # whatever it is, the loop must see it
            self._error, self.failed = error, True

    def _store(self, snapshot: Snapshot, first: Callable[[], None] | None) -> None:
        began = monotonic()
        for flush in self._flushes:
            flush()
        if first is not None:
            first()
        self.n_bytes = self._folder.write(snapshot)
        self.seconds = monotonic() - began
        self.newest = snapshot.header
        self.recent.append(Stored(self.newest, self.n_bytes, self.seconds))
        if self._stored is not None:
            self._stored(snapshot.header)
