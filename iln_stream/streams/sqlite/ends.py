"""The ends of a topic's partitions, where a writer adds records."""

from collections.abc import Sequence
from sqlite3 import Connection

from iln_stream.streams.sqlite.database import Database
from iln_stream.streams.sqlite.records import Partition, Row, insert, partitions_of
from iln_stream.streams.sqlite.retention import Retention, delete_old
from iln_stream.streams.sqlite.topics import find_or_create_topic, require_topic


class Ends:
    """Knows where the partitions of a topic end; looks again if another connection has written.

    Parameters
    ----------
    database
        An open file.
    topic
        Name of the topic; created if it does not exist.
    n_partitions
        Number of partitions with which it is created.

    """

    def __init__(self, database: Database, topic: str, n_partitions: int = 1) -> None:
        self.topic = find_or_create_topic(database, topic, n_partitions)
        self._database = database
        self._partitions: list[Partition] = []
        self._retention = Retention()
        self._version: int | None = None  # data version at which these were read
        self._unsure = True  # whether a transaction began and did not end well

    def now(self, connection: Connection) -> list[Partition]:
        """Return the partitions as they are in the open transaction."""
        version = self._database.data_version
        if self._unsure or version != self._version:
            self._partitions = partitions_of(connection, self.topic.number)
            path, name = self._database.path, self.topic.name
            self._retention = require_topic(connection, path, name).retention
            self._version = version
        self._unsure = True
        return self._partitions

    def store(self, connection: Connection, partition: Partition, rows: Sequence[Row]) -> None:
        """Add records, and delete some that the topic's retention does not keep."""
        partition = insert(connection, partition, rows)
        # More than were added, so that retention keeps up without a long transaction.
        delete_old(connection, partition, self._retention, 2 * len(rows) + 100)
        self._partitions[partition.number] = partition

    def committed(self) -> None:
        """Note that the transaction was committed, so that the known ends are right."""
        self._unsure = False
