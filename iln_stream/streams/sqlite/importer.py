"""Appends records of another stream, each once."""

from collections.abc import Sequence
from pathlib import Path

from iln_stream.errors import SinkError
from iln_stream.streams.base import Record
from iln_stream.streams.sqlite.database import Database
from iln_stream.streams.sqlite.ends import Ends
from iln_stream.streams.sqlite.records import Row, partition_of_key, stored_text

_WHERE = "WHERE topic = ? AND source = ? AND source_id = ? AND partition = ?"


class SqliteImporter:
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
        self._database = Database(path, create=True, error=SinkError)
        try:
            self._ends = Ends(self._database, topic)
        except SinkError:
            self._database.close()
            raise
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
        with self._database.write() as connection:
            found = connection.execute(
                f"SELECT next_offset FROM committed {_WHERE}", (*self._key, partition)
            ).fetchone()
            if (None if found is None else found[0]) != begin:
                raise SinkError(
                    f"{self._database.path}: another process does the same import of "
                    f"{self._source}: let one of them finish"
                )
            partitions = self._ends.now(connection)
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
        self._ends.committed()

    def forget(self) -> None:
        """Forget how far the other stream was read, so that it begins anew."""
        with self._database.write() as connection:
            connection.execute(
                "DELETE FROM committed WHERE topic = ? AND source = ? AND source_id = ?", self._key
            )

    def close(self) -> None:
        """Close the file."""
        self._database.close()
