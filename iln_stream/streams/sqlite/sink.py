"""Messages to a topic of an embedded log."""

import threading
import time
from pathlib import Path
from sqlite3 import Connection

from iln_stream.errors import SinkError
from iln_stream.streams.sqlite.database import Database
from iln_stream.streams.sqlite.ends import Ends
from iln_stream.streams.sqlite.records import Row, stored_text

_LARGEST = 10_000
"""Messages in a transaction at most."""

_LARGEST_BYTES = 16 << 20
"""Bytes of messages in a transaction, after which it is committed."""

_LONGEST = 0.1
"""Seconds from one transaction to the next, as a commit costs as much as thousands of messages."""


class SqliteSink:
    """Appends messages to one partition of a topic, in order, many in a transaction.

    Any thread may use it.

    Parameters
    ----------
    path
        Path of the file; created if it does not exist.
    topic
        Name of the topic; created with one partition if it does not exist.
    partition
        Number of the partition.

    Raises
    ------
    SinkError
        When the file can't be written to, is not a log, or has no such partition.

    """

    def __init__(self, path: Path, topic: str, partition: int = 0) -> None:
        self._database = Database(path, create=True, error=SinkError)
        self._partition = partition
        self._lock = threading.RLock()  # the loop writes; a snapshot's thread flushes
        self._waiting: list[Row] = []
        self._n_bytes = 0
        self._last = time.monotonic()  # when messages were stored last
        self._failed: SinkError | None = None
        try:
            self._ends = Ends(self._database, topic)
            with self._database.write() as connection:
                n = len(self._ends.now(connection))
            if partition >= n:
                raise SinkError(
                    f"topic {topic} of {path} has {n} partitions, and no partition {partition}: "
                    "create one with more, by `iln-stream log create`"
                )
        except SinkError:
            self._database.close()
            raise

    def write(self, key: str | None, value: bytes, timestamp: float | None = None) -> None:
        """Queue one message; it is stored at once, or a tenth of a second after the last ones."""
        with self._lock:
            self._queue(key, value, timestamp)
            self.flush_if_due()

    def send_queued(self) -> None:
        """Store all messages."""
        self.flush()

    def flush_if_due(self) -> None:
        """Store the messages if there are many, or none were stored for a tenth of a second."""
        if self._waiting and (
            len(self._waiting) >= _LARGEST
            or self._n_bytes >= _LARGEST_BYTES
            or time.monotonic() - self._last > _LONGEST
        ):
            self.flush()

    def flush(self) -> None:
        """Store all messages durably."""
        with self._lock:
            if self._failed is not None:
                raise SinkError(str(self._failed)) from self._failed
            if not self._waiting:
                return
            self._last = time.monotonic()
            try:
                with self._database.write() as connection:
                    self._store(connection)
                self._ends.committed()
            except SinkError as error:
                self._failed = error
                raise
            self._waiting.clear()
            self._n_bytes = 0

    def close(self) -> None:
        """Store all messages, and close the file."""
        with self._lock:
            try:
                self.flush()
            finally:
                self._database.close()

    def _queue(self, key: str | None, value: bytes, timestamp: float | None = None) -> None:
        now = time.time() if timestamp is None else timestamp
        self._waiting.append((now, None if key is None else stored_text(key), None, value))
        self._n_bytes += len(value or b"")  # copies of logs have records without a value

    def _store(self, connection: Connection) -> None:
        """Store the messages, in the open transaction."""
        self._ends.store(connection, self._ends.now(connection)[self._partition], self._waiting)
