"""One partition's records in the file."""

import sqlite3
from binascii import crc32
from collections.abc import Sequence
from itertools import accumulate
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
    total_bytes
        Sum of the values' sizes of all records up to the last one; 0 if there is none.

    """

    slot: int
    number: int
    next_offset: int
    total_bytes: int


def partitions_of(connection: sqlite3.Connection, topic: int) -> list[Partition]:
    """Return the partitions of a topic, in the open transaction."""
    found = connection.execute(
        "SELECT slot, number, next_offset FROM partitions WHERE topic = ? ORDER BY number", (topic,)
    ).fetchall()
    return [_partition(connection, *row) for row in found]


def _partition(connection: sqlite3.Connection, slot: int, number: int, if_empty: int) -> Partition:
    last = connection.execute(
        f"SELECT offset + 1, total_bytes FROM records_{slot} ORDER BY offset DESC LIMIT 1"
    ).fetchone()
    return Partition(slot, number, *(last or (if_empty, 0)))


def first_record(connection: sqlite3.Connection, slot: int) -> tuple[int, int] | None:
    """Return the oldest record's offset, and the total of bytes before it; None: no records."""
    row = connection.execute(
        f"SELECT offset, total_bytes - ifnull(length(value), 0) FROM records_{slot} "
        "ORDER BY offset LIMIT 1"
    ).fetchone()
    return None if row is None else (row[0], row[1])


def insert(connection: sqlite3.Connection, partition: Partition, rows: Sequence[Row]) -> Partition:
    """Store records, in the open transaction; return the partition with them."""
    slot, number, next_offset, total = partition
    totals = list(accumulate((len(row[3] or b"") for row in rows), initial=total))
    connection.executemany(
        f"INSERT INTO records_{slot} VALUES (?, ?, ?, ?, ?, ?)",
        [
            (offset, total, *row)
            for offset, (total, row) in enumerate(
                zip(totals[1:], rows, strict=True), start=next_offset
            )
        ],
    )
    return Partition(slot, number, next_offset + len(rows), totals[-1])


def partition_of_key(key: str | None, n_partitions: int) -> int:
    """Return the partition of a key: its CRC-32 modulo the number; 0 without a key.

    Records without a key share a partition, so that they keep their order.

    Examples
    --------
    >>> from iln_stream.streams.sqlite.records import partition_of_key
    >>> partition_of_key("a-19", 3), partition_of_key(None, 3)
    (1, 0)

    """
    if key is None or n_partitions == 1:
        return 0
    return crc32(_bytes(key)) % n_partitions


def stored_text(text: str) -> str | bytes:
    """Return a key or id as SQLite stores it: text, or bytes if it is not UTF-8."""
    if text.isascii():
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
