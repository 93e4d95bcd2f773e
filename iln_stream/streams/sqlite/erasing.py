"""Erases records: their places stay, so that no offset changes, and nothing that was in them."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from iln_stream.errors import SinkError
from iln_stream.streams.sqlite.database import Database
from iln_stream.streams.sqlite.records import checksum_of, partitions_of
from iln_stream.streams.sqlite.topics import require_topic

ERASED = b"\0iln_stream: erased"
"""In place of the key of an erased record; a value of zeros may be somebody's."""


def erase(path: Path, topic: str, places: Mapping[int, Sequence[int]]) -> int:
    """Overwrite records' values by as many zeros, keys by a mark, and remove ids; return how many.

    Readers pass over erased records. What was in them is neither in the file nor in its write-ahead
    log afterwards, unless another process is reading at that moment. `places` are offsets by
    partition.

    Raises
    ------
    SinkError
        When the file can't be written to.

    """
    n = 0
    with closing(Database(path, create=True, error=SinkError)) as database:
        database.connection.execute("PRAGMA secure_delete = ON")
        with database.write() as connection:
            number = require_topic(connection, path, topic).number
            for partition in partitions_of(connection, number):
                table = f"records_{partition.slot}"
                for offset in places.get(partition.number, ()):
                    found = connection.execute(
                        f"SELECT timestamp, length(value) FROM {table} WHERE offset = ?", (offset,)
                    ).fetchone()
                    if found is None:
                        continue
                    value = None if found[1] is None else bytes(found[1])
                    row: dict[str, Any] = {"value": value, "key": ERASED, "id": None}
                    if partition.is_checked:
                        row["checksum"] = checksum_of(offset, found[0], ERASED, value)
                    columns = ", ".join(f"{name} = ?" for name in row)
                    connection.execute(
                        f"UPDATE {table} SET {columns} WHERE offset = ?", (*row.values(), offset)
                    )
                    n += 1
        database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return n
