"""One partition's records in the file."""

import sqlite3
import struct
from binascii import crc32
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from iln_stream.errors import SinkError

Row = tuple[float, str | bytes | None, str | bytes | None, bytes | None]
"""A record to store: timestamp, key, id, value."""


class Partition(NamedTuple):
    """A partition."""

    slot: int  # number of its table of records
    number: int  # number within the topic
    # offset of the next record; it never decreases, even if all records are deleted
    next_offset: int
    # sum of the values' sizes of all records up to the last one; 0 if there is none
    total_bytes: int
    is_checked: bool = True  # whether its records have checksums


def partitions_of(connection: sqlite3.Connection, topic: int) -> list[Partition]:
    """Return the partitions of a topic, in the open transaction."""
    found = connection.execute(
        "SELECT slot, number, next_offset, "
        "(SELECT count(*) FROM pragma_table_info('records_' || slot) WHERE name = 'checksum') "
        "FROM partitions WHERE topic = ? ORDER BY number",
        (topic,),
    ).fetchall()
    if [number for _, number, *_ in found] != list(range(max(len(found), 1))):
        raise sqlite3.DatabaseError(_DAMAGED_END)
    try:
        return [_partition(connection, *row) for row in found]
    except TypeError:  # damaged rows have other types, too
        raise sqlite3.DatabaseError(_DAMAGED_END) from None


def _partition(
    connection: sqlite3.Connection, slot: int, number: int, if_empty: int, is_checked: int
) -> Partition:
    last = connection.execute(
        "SELECT offset + 1, total_bytes, total_bytes - ifnull(length(value), 0) "
        f"FROM records_{slot} ORDER BY offset DESC LIMIT 2"
    ).fetchall()
    if len(last) == 2 and (last[0][0] - 1, last[0][2]) != last[1][:2]:
        raise sqlite3.DatabaseError(_DAMAGED_END)
    next_offset, total_bytes, _ = last[0] if last else (if_empty, 0, 0)
    return Partition(slot, number, next_offset, total_bytes, bool(is_checked))


_DAMAGED_END = (
    "the file is damaged, as its partitions or their last records do not follow each other: "
    "restore it from a backup"
)


def first_record(connection: sqlite3.Connection, slot: int) -> tuple[int, int] | None:
    """Return the oldest record's offset, and the total of bytes before it; None: no records."""
    row = connection.execute(
        f"SELECT offset, total_bytes - ifnull(length(value), 0) FROM records_{slot} "
        "ORDER BY offset LIMIT 1"
    ).fetchone()
    return None if row is None else (row[0], row[1])


def insert(connection: sqlite3.Connection, partition: Partition, rows: Sequence[Row]) -> Partition:
    """Store records, in the open transaction; return the partition with them."""
    slot, _, next_offset, total, is_checked = partition
    totals = list(accumulate((len(row[3] or b"") for row in rows), initial=total))
    n_columns = 7 if is_checked else 6
    connection.executemany(
        f"INSERT INTO records_{slot} VALUES ({', '.join('?' * n_columns)})",
        [
            (offset, total, *row, checksum_of(offset, row[0], row[1], row[3]))[:n_columns]
            for offset, (total, row) in enumerate(
                zip(totals[1:], rows, strict=True), start=next_offset
            )
        ],
    )
    return partition._replace(next_offset=next_offset + len(rows), total_bytes=totals[-1])


_pack_place = struct.Struct("<qd").pack


def checksum_of(offset: int, timestamp: float, key: str | bytes | None, value: bytes | None) -> int:
    """Return the CRC-32 of a record; without its id, which a correction may take."""
    checksum = crc32(_pack_place(offset, timestamp))
    if key is not None:
        checksum = crc32(key if isinstance(key, bytes) else key.encode(), checksum)
    return crc32(value or b"", checksum)


def n_intact(rows: Sequence[tuple[Any, ...]], first: int, is_checked: bool) -> int:
    """Return how many rows there are before the first that is damaged or lacks.

    A row is an offset, a value, a timestamp, a key and a checksum.
    """
    for n, (offset, value, timestamp, key, checksum) in enumerate(rows):
        try:
            if is_checked and checksum_of(first + n, timestamp, key, value) != checksum:
                return n
        except (TypeError, AttributeError, struct.error):  # damaged rows have other types, too
            return n
        if offset != first + n:
            return n
    return len(rows)


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
