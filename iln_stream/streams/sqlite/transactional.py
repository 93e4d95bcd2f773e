"""Messages to an embedded log, in transactions with the positions that they come from."""

from collections.abc import Sequence
from pathlib import Path
from sqlite3 import Connection

from iln_stream.errors import SinkError
from iln_stream.streams.sqlite.sink import SqliteSink

_WHERE = "WHERE topic = ? AND source = ? AND source_id = ? AND partition = ?"


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

    def _store(self, connection: Connection) -> None:
        for partition, epoch in self._epochs.items():
            self._check_epoch(connection, partition, epoch)
        super()._store(connection)
        connection.executemany(
            f"UPDATE committed SET next_offset = ? {_WHERE}",
            [(offset, *self._key, partition) for partition, offset in self._read.items()],
        )

    def _check_epoch(self, connection: Connection, partition: int, ours: int) -> None:
        """Raise SinkError if a later process claimed the partition."""
        (epoch,) = connection.execute(
            f"SELECT epoch FROM committed {_WHERE}", (*self._key, partition)
        ).fetchone()
        if epoch != ours:
            raise SinkError(
                f"{self._database.path}: another process now publishes the predictions of "
                f"{self._source}, partition {partition}, to topic {self._ends.topic.name}: stop "
                "one of them, or give each its own topic"
            )


def _claim(connection: Connection, key: tuple[int, str, str, int]) -> int:
    """Claim the next epoch of a partition, and return it."""
    connection.execute("INSERT OR IGNORE INTO committed VALUES (?, ?, ?, ?, 0, NULL)", key)
    connection.execute(f"UPDATE committed SET epoch = epoch + 1 {_WHERE}", key)
    return int(connection.execute(f"SELECT epoch FROM committed {_WHERE}", key).fetchone()[0])
