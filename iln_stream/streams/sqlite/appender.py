"""Appends records to a topic of an embedded log."""

import time
from collections.abc import Sequence
from pathlib import Path
from sqlite3 import Connection

from iln_stream.errors import SinkError
from iln_stream.streams.appender import Appended, NewRecord
from iln_stream.streams.sqlite.database import Database
from iln_stream.streams.sqlite.ends import Ends
from iln_stream.streams.sqlite.records import Partition, Row, partition_of_key, stored_text


class SqliteAppender:
    """Appends records; each call is one transaction, durable when it returns.

    A call costs one sync of the disk whatever the number of records, so append many at once. A
    record with an id is appended once, as long as the log keeps the first one.

    Parameters
    ----------
    path
        Path of the file; created if it does not exist.
    topic
        Name of the topic; created with one partition if it does not exist.
    stream
        Name of the log.

    Raises
    ------
    SinkError
        When the file can't be written to, or is not a log.

    """

    def __init__(self, path: Path, topic: str, stream: str) -> None:
        self.stream = stream
        self._database = Database(path, create=True, error=SinkError)
        try:
            self._ends = Ends(self._database, topic)
        except SinkError:
            self._database.close()
            raise

    def append(self, records: Sequence[NewRecord]) -> Sequence[Appended]:
        """Append records in this order; return their positions once all of them are durable.

        Raises
        ------
        SinkError
            When none of them could be stored, as the disk is full, for example.

        """
        if not records:
            return []
        with self._database.write() as connection:
            partitions = self._ends.now(connection)
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
        self._ends.committed()
        return found

    def _number(self, chosen: int | None, key: str | None, n: int) -> int:
        """Return the number of a record's partition, one of n."""
        if chosen is None:
            return 0 if n == 1 else partition_of_key(key, n)
        if chosen < n:
            return chosen
        raise SinkError(
            f"{self.stream} has no partition {chosen}; it has {n} partitions, numbered from 0"
        )

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _find(
    connection: Connection, partitions: Sequence[Partition], row_id: str | bytes
) -> Appended | None:
    """Return where the record with this id is; None: there is none."""
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
    """Return the value of a record in the file or among the new rows."""
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
