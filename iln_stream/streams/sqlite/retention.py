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
) -> Partition:
    """Delete up to `most` of the oldest records, in the open transaction.

    Returns
    -------
    Partition
        The partition without them; the caller stores its number of bytes.

    """
    if retention == Retention():
        return partition
    oldest = f"SELECT offset, timestamp, length(value) FROM records_{partition.slot} "
    youngest_deleted = None
    n_bytes = partition.n_bytes
    expired = None if retention.seconds is None else time.time() - retention.seconds
    for offset, timestamp, size in connection.execute(oldest + "ORDER BY offset LIMIT ?", (most,)):
        if not (
            (retention.records is not None and partition.next_offset - offset > retention.records)
            or (expired is not None and timestamp < expired)
            or (retention.bytes is not None and n_bytes > retention.bytes)
        ):
            break
        youngest_deleted = offset
        n_bytes -= size or 0
    if youngest_deleted is None:
        return partition
    connection.execute(
        f"DELETE FROM records_{partition.slot} WHERE offset <= ?",
        (youngest_deleted,),
    )
    return partition._replace(n_bytes=n_bytes)
