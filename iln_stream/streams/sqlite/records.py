"""One partition's records in the file."""

import sqlite3
from binascii import crc32
from collections.abc import Sequence
from typing import NamedTuple

from iln_stream.errors import SinkError

Row = tuple[float, str | bytes | None, str | bytes | None, bytes | None]
"""A record to store: timestamp, key, id, value."""


class Partition(NamedTuple):
    """A partition.

    Parameters
    ----------
    slot
        Number of its table of records.
    number
        Number within the topic.
    next_offset
        Offset of the next record; it never decreases, even if all records are deleted.
    n_bytes
        Sum of the values' sizes.

    """

    slot: int
    number: int
    next_offset: int
    n_bytes: int


def partitions_of(connection: sqlite3.Connection, topic: int) -> list[Partition]:
    """Return the partitions of a topic."""
    found = connection.execute(
        "SELECT slot, number, next_offset, n_bytes FROM partitions WHERE topic = ? ORDER BY number",
        (topic,),
    )
    return [Partition(*row) for row in found]


def insert(connection: sqlite3.Connection, partition: Partition, rows: Sequence[Row]) -> Partition:
    """Store records, in the open transaction; return the partition with them."""
    connection.executemany(
        f"INSERT INTO records_{partition.slot} VALUES (?, ?, ?, ?, ?)",
        [(offset, *row) for offset, row in enumerate(rows, partition.next_offset)],
    )
    return partition._replace(
        next_offset=partition.next_offset + len(rows),
        n_bytes=partition.n_bytes + sum(len(row[3]) for row in rows if row[3] is not None),
    )


def update(connection: sqlite3.Connection, partition: Partition) -> None:
    """Store next offset and number of bytes, in the open transaction."""
    connection.execute(
        "UPDATE partitions SET next_offset = ?, n_bytes = ? WHERE slot = ?",
        (partition.next_offset, partition.n_bytes, partition.slot),
    )


def partition_of_key(key: str | None, n_partitions: int) -> int:
    """Return the partition of a key: its CRC-32 modulo the number; 0 without a key.

    Records without a key share a partition, so that they keep their order.

    Examples
    --------
    >>> from iln_stream.streams.sqlite.records import partition_of_key
    >>> partition_of_key("a-17", 3), partition_of_key(None, 3)
    (1, 0)

    """
    if key is None or n_partitions == 1:
        return 0
    return crc32(_bytes(key)) % n_partitions


def stored_text(text: str | None) -> str | bytes | None:
    """Return a key or id as SQLite stores it: text, or bytes if it is not UTF-8."""
    if text is None or text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _bytes(text)
    return text


def loaded_text(stored: str | bytes | None) -> str | None:
    """Return a key or id as `stored_text` got it."""
    return stored.decode(errors="surrogateescape") if isinstance(stored, bytes) else stored


def _bytes(text: str) -> bytes:
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError as error:
        raise SinkError(f"{text!r} is not text that UTF-8 can encode: correct the key") from error
