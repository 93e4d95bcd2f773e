"""The checkpoint: when progress becomes durable, and in which order."""

import datetime as dt
import logging
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, perf_counter
from typing import Any

from iln_stream.errors import NotFiniteError
from iln_stream.reporting import MetricSpec
from iln_stream.snapshots.file import Header, Snapshot, Stored
from iln_stream.snapshots.folder import SnapshotFolder
from iln_stream.state import StateDict
from iln_stream.streams import Record, StreamPartition, as_texts

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
        self.newest = newest  # header of the newest stored snapshot
        self.n_bytes: int | None = None  # size of the last snapshot that this saver stored
        self.seconds: float | None = None  # time that it took, including the flushes
        self.failed = False  # whether a snapshot could not be stored
        # the last 20 snapshots, oldest first: those in the folder, and those that this saver stored
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


log = logging.getLogger(__name__)

Positions = Mapping[StreamPartition, int]
"""Next offset by partition."""


class Checkpoint:
    """Makes the state durable together with the positions up to which it was learned.

    A checkpoint takes these steps:

    1. Between two records, the loop's thread captures a copy of the state of every part and of the
       positions. The outputs already have the predictions and dead letters of all earlier records.
    2. The saver's thread flushes the outputs: it waits until the predictions and dead letters of
       all records before the positions are stored.
    3. It writes parts and positions into one file under another name, fsyncs it, renames it, and
       fsyncs the folder. The file is complete or does not exist.
    4. It reports the positions as stored, so that replay data before them can be deleted.

    If 2 or 3 fails, no positions are reported: the error is raised at the next record, and the run
    ends. Only one checkpoint is taken at a time.

    A state that is not finite is not captured: the newest snapshot stays, and so do its positions.
    The loop goes on, as the learner may heal before the next checkpoint is due; if not, `finish`
    raises the error.

    Parameters
    ----------
    saver
        Does steps 2 to 4.
    header
        Returns the file's header, given the positions.
    parts
        Functions that return the state of each part, by its name.
    every_events
        Records from one checkpoint to the next.
    every_seconds
        Seconds from one to the next, if there was a record.
    positions
        Positions at which the learner begins.
    beside
        Copies, in step 1, what is stored beside the snapshot, such as the states of keys in a file
        of their own; returns the function that stores it, which is called before step 3. None:
        there is nothing.

    """

    def __init__(
        self,
        saver: Saver,
        header: Callable[[Positions], Header],
        parts: Mapping[str, Callable[[], StateDict | None]],
        every_events: int,
        every_seconds: float,
        positions: Positions,
        beside: Callable[[], Callable[[], None]] | None = None,
    ) -> None:
        self._saver = saver
        self._header = header
        self._parts = dict(parts)
        self._every_events = every_events
        self._every_seconds = every_seconds
        self._beside = beside
        self._positions = dict(positions)
        self._begin = dict(positions)
        self._n_since = 0
        self._due = perf_counter() + every_seconds
        self._n_refused = 0
        self._behind = False  # whether the last checkpoint was refused

    @property
    def n_until_due(self) -> int:
        """Number of records until the next checkpoint, if the last one is stored by then."""
        left = self._every_events - self._n_since
        return left if left > 0 else self._every_events

    def passed(self, records: Sequence[Record]) -> None:
        """Note that records are done and that the outputs have their results."""
        for record in records:
            self._positions[record.origin] = record.offset + 1
        self._n_since += len(records)
        is_due = perf_counter() >= self._due or self._n_since >= self._every_events
        if is_due or self._saver.failed:
            self.idle()

    def move_to(self, positions: Positions) -> None:
        """Advance to these positions, past records that were never handed out."""
        self._positions.update(positions)

    def idle(self) -> None:
        """Save if a checkpoint is due."""
        self._saver.check()
        due = self._n_since >= self._every_events or (self._n_since and perf_counter() >= self._due)
        if due and not self._saver.busy:
            self._save()

    def finish(self, always: bool = False) -> None:
        """Save if a record came since the last checkpoint, or `always`; wait until it is stored."""
        self._saver.finish()
        if self._n_since or self._behind or always:
            self._store(self.capture())
            self._noted(behind=False)
            self._saver.finish()

    def capture(self) -> Snapshot:
        """Return a copy of all parts, with the positions.

        Raises
        ------
        NotFiniteError
            When the learner's state is not finite.

        """
        parts = {name: state() for name, state in self._parts.items()}
        return Snapshot(self._header(dict(self._positions)), parts)

    def recent(self) -> list[dict[str, Any]]:
        """Return the last 20 stored snapshots, oldest first, as JSON values."""
        return [
            {
                "time": _when(header),
                "positions": as_texts(header.positions),
                "seconds": seconds,
                "bytes": n_bytes,
            }
            for header, n_bytes, seconds in list(self._saver.recent)
        ]

    @property
    def lag(self) -> int:
        """Offsets that a crash would make the next run read again."""
        # Read first, as another thread advances it, but never beyond our positions.
        newest = self._saver.newest
        now = dict(self._positions)
        saved = {} if newest is None else newest.positions
        return sum(
            offset - max(saved.get(origin, 0), self._begin.get(origin, 0))
            for origin, offset in now.items()
        )

    def _save(self) -> None:
        """Capture the state and store it in the background, unless it is not finite."""
        try:
            snapshot = self.capture()
        except NotFiniteError as error:
            log.error("%s; learning continues without a new snapshot", error)
            self._n_refused += 1
            self._noted(behind=True)
        else:
            self._store(snapshot)
            self._noted(behind=False)

    def _store(self, snapshot: Snapshot) -> None:
        self._saver.save(snapshot, None if self._beside is None else self._beside())

    def _noted(self, *, behind: bool) -> None:
        """Begin to count to the next checkpoint."""
        self._behind = behind
        self._n_since = 0
        self._due = perf_counter() + self._every_seconds

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the exported metrics, which show how much a crash would cost."""
        return (
            MetricSpec(
                "iln_snapshot_last_success_timestamp_seconds",
                "gauge",
                "When the newest stored snapshot was taken.",
                lambda: None if (newest := self._saver.newest) is None else _when(newest),
            ),
            MetricSpec(
                "iln_snapshot_lag_records",
                "gauge",
                "Records since the newest snapshot, which a run would read again after a crash.",
                lambda: self.lag,
            ),
            MetricSpec(
                "iln_snapshots_refused_total",
                "counter",
                "Snapshots that were not written because the learner's state was not finite.",
                lambda: self._n_refused,
                of_process=True,
            ),
            MetricSpec(
                "iln_snapshot_size_bytes",
                "gauge",
                "Size of the last snapshot that this process stored.",
                lambda: self._saver.n_bytes,
            ),
            MetricSpec(
                "iln_snapshot_duration_seconds",
                "gauge",
                "Time to store a snapshot in the background, including the wait for predictions "
                "and dead letters.",
                lambda: self._saver.seconds,
            ),
        )


def _when(header: Header) -> float:
    return dt.datetime.fromisoformat(header.saved_at).timestamp()
