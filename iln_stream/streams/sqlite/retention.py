"""Deletion of old records."""

import sqlite3
import time
from typing import NamedTuple

from iln_stream.streams.sqlite.records import Partition


class Retention(NamedTuple):
    """How much each partition of a topic keeps; a record is deleted if one limit says so.

    Parameters
    ----------
    records
        Number of records.
    seconds
        Age of a record by its timestamp. The oldest record decides: records behind a younger one
        stay.
    bytes
        Sum of the values' sizes, without keys and times.

    None: no limit.

    """

    records: int | None = None
    seconds: float | None = None
    bytes: int | None = None


def delete_old(
    connection: sqlite3.Connection, partition: Partition, retention: Retention, most: int
) -> int:
    """Delete up to `most` of the oldest records, in the open transaction; return their number."""
    if retention == Retention():
        return 0
    slot, _, end, total = partition
    expired = None if retention.seconds is None else time.time() - retention.seconds
    last = None
    n_deleted = 0
    for offset, before, timestamp in connection.execute(
        "SELECT offset, total_bytes - ifnull(length(value), 0), timestamp "
        f"FROM records_{slot} ORDER BY offset LIMIT ?",
        (most,),
    ):
        if not (
            (retention.records is not None and end - offset > retention.records)
            or (expired is not None and timestamp < expired)
            or (retention.bytes is not None and total - before > retention.bytes)
        ):
            break
        last = offset
        n_deleted += 1
    if last is not None:
        # Should no record be left, this is where the next one's offset comes from.
        connection.execute("UPDATE partitions SET next_offset = ? WHERE slot = ?", (end, slot))
        connection.execute(f"DELETE FROM records_{slot} WHERE offset <= ?", (last,))
    return n_deleted
