"""Who writes to an embedded log: sinks, appenders, imports, transactions."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from sqlite3 import Connection

from iln_stream.errors import OtherRunError, SinkError
from iln_stream.streams.base import Appended, NewRecord, PlacedMessage, Record
from iln_stream.streams.sqlite.database import Database
from iln_stream.streams.sqlite.records import (
    Partition,
    Row,
    insert,
    partition_of_key,
    partitions_of,
    stored_text,
)
from iln_stream.streams.sqlite.topics import (
    Retention,
    delete_old,
    find_or_create_topic,
    require_topic,
)


class Ends:
    """Knows where the partitions of a topic end; looks again if another connection has written.

    The topic is created with `n_partitions`, if it does not exist.
    """

    def __init__(self, database: Database, topic: str, n_partitions: int = 1) -> None:
        self.topic = find_or_create_topic(database, topic, n_partitions)
        self._database = database
        self._partitions: list[Partition] = []
        self._retention = Retention()
        self._version: int | None = None  # data version at which these were read
        self._unsure = True  # whether a transaction began and did not end well

    @contextmanager
    def writing(self) -> Iterator[tuple[Connection, list[Partition]]]:
        """Begin a transaction to write; yield it, and the partitions as they are in it."""
        with self._database.write() as connection:
            version = self._database.data_version
            if self._unsure or version != self._version:
                self._partitions = partitions_of(connection, self.topic.number)
                path, name = self._database.path, self.topic.name
                self._retention = require_topic(connection, path, name).retention
                self._version = version
            self._unsure = True
            yield connection, self._partitions
        self._unsure = False

    def store(self, connection: Connection, partition: Partition, rows: Sequence[Row]) -> None:
        """Add records, and delete some that the topic's retention does not keep."""
        partition = insert(connection, partition, rows)
        # More than were added, so that retention keeps up without a long transaction.
        delete_old(connection, partition, self._retention, 2 * len(rows) + 100)
        self._partitions[partition.number] = partition


_LARGEST = 10_000
"""Messages in a transaction at most."""

_LARGEST_BYTES = 16 << 20
"""Bytes of messages in a transaction, after which it is committed."""

_LONGEST = 0.1
"""Seconds from one transaction to the next, as a commit costs as much as thousands of messages."""


class SqliteSink:
    """Appends messages to partitions of a topic, in order, many in a transaction.

    Any thread may use it. File and topic are created if they do not exist, the topic with
    `n_partitions`. `write` appends to `partition`; from 2 partitions on, `write_all` appends to
    each one that the topic has.

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
            with self._ends.writing() as (_, partitions):
                n = len(partitions)
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

    def write_all(self, messages: Sequence[PlacedMessage]) -> None:
        """Queue messages for the partitions of their records, or else for partition 0."""
        with self._lock:
            for partition, key, value in messages:
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
                raise type(self._failed)(str(self._failed)) from self._failed
            if not self._waiting:
                return
            self._last = time.monotonic()
            try:
                with self._ends.writing() as (connection, partitions):
                    self._store(connection, partitions)
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

    def _store(self, connection: Connection, partitions: Sequence[Partition]) -> None:
        """Store the messages, in the open transaction."""
        for number, rows in self._waiting.items():
            self._ends.store(connection, partitions[number], rows)


class _Writer:
    """Writes to a topic of a file, which has one partition if it is new."""

    def __init__(self, path: Path, topic: str) -> None:
        self._database = Database(path, create=True, error=SinkError)
        try:
            self._ends = Ends(self._database, topic)
        except SinkError:
            self._database.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._database.close()


class SqliteAppender(_Writer):
    """Appends records; each call is one transaction, durable when it returns.

    A call costs one sync of the disk whatever the number of records, so append many at once. A
    record with an id is appended once, as long as the log keeps the first one. File and topic are
    created if they do not exist, the topic with one partition. `stream` is the name of the log.

    Raises
    ------
    SinkError
        When the file can't be written to, or is not a log.

    """

    def __init__(self, path: Path, topic: str, stream: str) -> None:
        super().__init__(path, topic)
        self.stream = stream

    def append(self, records: Sequence[NewRecord]) -> Sequence[Appended]:
        """Append records in this order; return their positions once all of them are durable.

        Raises
        ------
        SinkError
            When none of them could be stored, as the disk is full, for example.

        """
        if not records:
            return []
        with self._ends.writing() as (connection, partitions):
            rows: list[list[Row]] = [[] for _ in partitions]
            known: dict[str | bytes, Appended] = {}
            found: list[Appended] = []
            now = time.time()
            n = len(partitions)
            for value, key, name, timestamp, corrects, chosen in records:
                number = self._number(chosen, key, n)
                ours = rows[number]
                here = Appended(number, partitions[number].next_offset + len(ours))
                row_id = None if name is None else stored_text(name)
                if row_id is not None:
                    before = known.get(row_id) or _find(connection, partitions, row_id)
                    if before is not None:
                        if not corrects or _value(connection, partitions, rows, before) == value:
                            found.append(before._replace(is_new=False))
                            continue
                        _release_id(connection, partitions, rows, before)
                    known[row_id] = here
                row_key = None if key is None else stored_text(key)
                ours.append((now if timestamp is None else timestamp, row_key, row_id, value))
                found.append(here)
            for partition, new in zip(partitions, rows, strict=True):
                if new:
                    self._ends.store(connection, partition, new)
        return found

    def _number(self, chosen: int | None, key: str | None, n: int) -> int:
        if chosen is None:
            return 0 if n == 1 else partition_of_key(key, n)
        if chosen < n:
            return chosen
        raise SinkError(
            f"{self.stream} has no partition {chosen}; it has {n} partitions, numbered from 0"
        )


def _find(
    connection: Connection, partitions: Sequence[Partition], row_id: str | bytes
) -> Appended | None:
    for partition in partitions:
        row = connection.execute(
            f"SELECT offset FROM records_{partition.slot} WHERE id = ?", (row_id,)
        ).fetchone()
        if row is not None:
            return Appended(partition.number, row[0])
    return None


def _value(
    connection: Connection,
    partitions: Sequence[Partition],
    rows: Sequence[Sequence[Row]],
    place: Appended,
) -> bytes | None:
    partition = partitions[place.partition]
    new = place.offset - partition.next_offset
    if new >= 0:
        return rows[place.partition][new][3]
    (value,) = connection.execute(
        f"SELECT value FROM records_{partition.slot} WHERE offset = ?", (place.offset,)
    ).fetchone()
    return value  # type: ignore[no-any-return]


def _release_id(
    connection: Connection,
    partitions: Sequence[Partition],
    rows: Sequence[list[Row]],
    place: Appended,
) -> None:
    """Take the id from a record in the file or among the new rows, for one that corrects it."""
    partition = partitions[place.partition]
    new = place.offset - partition.next_offset
    if new >= 0:
        timestamp, key, _, value = rows[place.partition][new]
        rows[place.partition][new] = timestamp, key, None, value
    else:
        connection.execute(
            f"UPDATE records_{partition.slot} SET id = NULL WHERE offset = ?", (place.offset,)
        )


_WHERE = "WHERE topic = ? AND source = ? AND source_id = ? AND partition = ?"


class SqliteImporter(_Writer):
    """Appends records of another stream to a topic, with their keys and times.

    How far the other stream was read is stored in the same transactions as its records, so that an
    import that was interrupted can continue without gaps or repeats.

    Parameters
    ----------
    path
        Path of the file; created if it does not exist.
    topic
        Name of the topic; created with one partition if it does not exist.
    source
        Name of the other stream.
    source_id
        Id of its topic; None if unknown. A topic that was created again is another stream.

    Raises
    ------
    SinkError
        When the file can't be written to, or is not a log.

    """

    def __init__(self, path: Path, topic: str, source: str, source_id: str | None) -> None:
        super().__init__(path, topic)
        # A topic's id is enough, and stays when its file is moved.
        self._key = (
            self._ends.topic.number,
            "import" if source_id else f"import of {source}",
            source_id or "",
        )
        self._source = source

    def position(self, partition: int) -> int | None:
        """Return where to go on in a partition of the other stream; None: at its beginning."""
        with self._database.read() as connection:
            return self._position(connection, partition)

    def _position(self, connection: Connection, partition: int) -> int | None:
        row = connection.execute(
            f"SELECT next_offset FROM committed {_WHERE}", (*self._key, partition)
        ).fetchone()
        return None if row is None else int(row[0])

    def append(
        self, partition: int, records: Sequence[Record], begin: int | None, end: int, by_key: bool
    ) -> None:
        """Append records of a partition of the other stream, durably.

        Parameters
        ----------
        partition
            Number of the partition that they are from.
        records
            The records; their payloads are bytes, or None.
        begin, end
            Positions in the other stream before and after them; `begin` as of `position`.
        by_key
            Whether their keys choose the partition here; if not, it has the same number.

        Raises
        ------
        SinkError
            When another process imports the same stream, or nothing could be stored.

        """
        with self._ends.writing() as (connection, partitions):
            if self._position(connection, partition) != begin:
                raise SinkError(
                    f"{self._database.path}: another process does the same import of "
                    f"{self._source}: let one of them finish"
                )
            rows: list[list[Row]] = [[] for _ in partitions]
            for record in records:
                assert not isinstance(record.payload, dict)
                to = partition_of_key(record.key, len(partitions)) if by_key else partition
                assert record.timestamp is not None
                key = None if record.key is None else stored_text(record.key)
                row = record.timestamp, key, None, record.payload
                rows[to].append(row)  # type: ignore[arg-type]
            for each, new in zip(partitions, rows, strict=True):
                if new:
                    self._ends.store(connection, each, new)
            connection.execute(
                "INSERT OR REPLACE INTO committed VALUES (?, ?, ?, ?, 0, ?)",
                (*self._key, partition, end),
            )

    def forget(self) -> None:
        """Forget how far the other stream was read, so that it begins anew."""
        with self._database.write() as connection:
            connection.execute(
                "DELETE FROM committed WHERE topic = ? AND source = ? AND source_id = ?", self._key
            )


class SqliteTransactionalSink(SqliteSink):
    """Stores messages and, in the same transactions, the committed offsets of their source.

    Each new sink for a partition of a source claims a higher *epoch*: the sink of an earlier
    process, if it still runs, can't store any more.

    Parameters
    ----------
    path, topic, n_partitions
        As in `SqliteSink`.
    source
        Name of the log of the records that lead to the messages.
    source_id
        Id of the source's topic; None if unknown. A topic that was created again has its own
        committed offsets.
    partitions
        Partitions of the source that are read.
    kind
        Tells these messages from others that the same records lead to.

    Raises
    ------
    SinkError
        As in `SqliteSink`.

    """

    def __init__(
        self,
        path: Path,
        topic: str,
        source: str,
        source_id: str | None,
        partitions: Sequence[int],
        n_partitions: int = 1,
        kind: str = "",
    ) -> None:
        super().__init__(path, topic, n_partitions=n_partitions)
        # A topic's id is enough, and stays when its file is renamed.
        named = "" if source_id else source
        self._key = self._ends.topic.number, f"{named}{kind}", source_id or ""
        self._source = source
        self._epochs: dict[int, int] = {}
        self._read: dict[int, int] = {}  # next offset by partition
        try:
            with self._database.write() as connection:
                for partition in partitions:
                    self._epochs[partition] = _claim(connection, (*self._key, partition))
        except SinkError:
            self._database.close()
            raise

    def committed(self) -> dict[int, int]:
        """Return the committed offset of each partition of the source that has one."""
        found = {}
        with self._lock, self._database.read() as connection:
            for partition in self._epochs:
                (offset,) = connection.execute(
                    f"SELECT next_offset FROM committed {_WHERE}", (*self._key, partition)
                ).fetchone()
                if offset is not None:
                    found[partition] = offset
        return found

    def publish(self, partition: int, offset: int, key: str | None, value: bytes) -> None:
        """Queue the message for the source's record at an offset of a partition.

        A flush by another thread stores both the message and the offset, or neither.
        """
        with self._lock:
            self._queue(self._target(partition), key, value)
            self._read[partition] = offset + 1
            self.flush_if_due()

    def _store(self, connection: Connection, partitions: Sequence[Partition]) -> None:
        for partition, epoch in self._epochs.items():
            self._check_epoch(connection, partition, epoch)
        super()._store(connection, partitions)
        connection.executemany(
            f"UPDATE committed SET next_offset = ? {_WHERE}",
            [(offset, *self._key, partition) for partition, offset in self._read.items()],
        )

    def _check_epoch(self, connection: Connection, partition: int, ours: int) -> None:
        """Raise OtherRunError if a later process claimed the partition."""
        (epoch,) = connection.execute(
            f"SELECT epoch FROM committed {_WHERE}", (*self._key, partition)
        ).fetchone()
        if epoch != ours:
            raise OtherRunError(
                f"{self._database.path}: another process now publishes the predictions of "
                f"{self._source}, partition {partition}, to topic {self._ends.topic.name}: stop "
                "one of them, or give each its own topic"
            )


def _claim(connection: Connection, key: tuple[int, str, str, int]) -> int:
    connection.execute("INSERT OR IGNORE INTO committed VALUES (?, ?, ?, ?, 0, NULL)", key)
    connection.execute(f"UPDATE committed SET epoch = epoch + 1 {_WHERE}", key)
    return int(connection.execute(f"SELECT epoch FROM committed {_WHERE}", key).fetchone()[0])
