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
    """Appends messages to partitions of a topic, in order, many in a transaction.

    Any thread may use it.

    Parameters
    ----------
    path
        Path of the file; created if it does not exist.
    topic
        Name of the topic; created if it does not exist.
    partition
        Number of the partition to which `write` appends.
    n_partitions
        Number of partitions with which the topic is created. From 2 on, `write_to` appends to each
        partition that the topic has.

    Raises
    ------
    SinkError
        When the file can't be written to, is not a log, or has no such partition.

    """

    def __init__(self, path: Path, topic: str, partition: int = 0, n_partitions: int = 1) -> None:
        self._database = Database(path, create=True, error=SinkError)
        self._partition = partition
        self._lock = threading.RLock()  # the loop writes; a snapshot's thread flushes
        self._waiting: dict[int, list[Row]] = {}
        self._n_waiting = 0
        self._n_bytes = 0
        self._last = time.monotonic()  # when messages were stored last
        self._failed: SinkError | None = None
        try:
            self._ends = Ends(self._database, topic, n_partitions)
            with self._database.write() as connection:
                n = len(self._ends.now(connection))
            if partition >= n:
                raise SinkError(
                    f"topic {topic} of {path} has {n} partitions, and no partition {partition}: "
                    "create one with more, by `iln-stream log create`"
                )
            self._n_partitions = 1 if n_partitions == 1 else n
        except SinkError:
            self._database.close()
            raise

    def write(self, key: str | None, value: bytes, timestamp: float | None = None) -> None:
        """Queue one message; it is stored at once, or a tenth of a second after the last ones."""
        with self._lock:
            self._queue(self._partition, key, value, timestamp)
            self.flush_if_due()

    def write_to(self, partition: int, key: str | None, value: bytes) -> None:
        """Queue one message for the partition of this number, or else for partition 0."""
        with self._lock:
            self._queue(self._target(partition), key, value)
            self.flush_if_due()

    def send_queued(self) -> None:
        """Store all messages."""
        self.flush()

    def flush_if_due(self) -> None:
        """Store the messages if there are many, or none were stored for a tenth of a second."""
        if self._waiting and (
            self._n_waiting >= _LARGEST
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
            self._n_waiting = self._n_bytes = 0

    def close(self) -> None:
        """Store all messages, and close the file."""
        with self._lock:
            try:
                self.flush()
            finally:
                self._database.close()

    def _target(self, partition: int) -> int:
        return partition if partition < self._n_partitions else 0

    def _queue(
        self, partition: int, key: str | None, value: bytes, timestamp: float | None = None
    ) -> None:
        now = time.time() if timestamp is None else timestamp
        row = now, None if key is None else stored_text(key), None, value
        self._waiting.setdefault(partition, []).append(row)
        self._n_waiting += 1
        self._n_bytes += len(value or b"")  # copies of logs have records without a value

    def _store(self, connection: Connection) -> None:
        """Store the messages, in the open transaction."""
        partitions = self._ends.now(connection)
        for number, rows in self._waiting.items():
            self._ends.store(connection, partitions[number], rows)
