"""The topics of a file: list, create, trim, delete old records, and who has read them.

These are the functions behind `iln-stream log list`, `create` and `trim`. Each opens the file for
as long as it takes.
"""

import re
import sqlite3
import time
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from iln_stream.errors import IlnError, NoStreamError, SinkError, SourceError
from iln_stream.streams.sqlite.database import Database, create_records
from iln_stream.streams.sqlite.records import Partition, first_record, partitions_of


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
    slot, _, end, total, _ = partition
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


_SLICE = 2_000
"""Records that one transaction of `trim` deletes, so that other writers wait milliseconds."""

_MOST_PARTITIONS = 1_000


class Topic(NamedTuple):
    """A topic of a file."""

    number: int  # number within the file
    name: str
    topic_id: str  # made with the topic; another topic of this name has another one
    created_at: float  # POSIX seconds
    retention: Retention  # what each partition keeps


class PartitionState(NamedTuple):
    """A partition and its records."""

    number: int  # number within the topic
    first_offset: int  # offset of the oldest record; `next_offset` if there is none
    next_offset: int  # offset of the next record to be appended
    n_bytes: int  # sum of the values' sizes


class TopicState(NamedTuple):
    """A topic with its partitions."""

    topic: Topic
    partitions: tuple[PartitionState, ...]


def topics(path: Path | str) -> list[TopicState]:
    """Return the topics of a file, by name.

    Raises
    ------
    NoStreamError
        When the file does not exist.
    SourceError
        When it can't be read.

    """
    with closing(Database(Path(path), create=False)) as database, database.read() as connection:
        return [
            TopicState(
                topic, tuple(_state(connection, p) for p in partitions_of(connection, topic.number))
            )
            for topic in _topics(connection)
        ]


def create_topic(
    path: Path | str, name: str, n_partitions: int = 1, retention: Retention | None = None
) -> Topic:
    """Create a topic, and the file if necessary.

    Parameters
    ----------
    path
        Path of the file.
    name
        Letters, digits, '.', '_' and '-'.
    n_partitions
        Number of partitions, which can't be changed later.
    retention
        What each partition keeps; None: everything. It is enforced as records are appended.

    Raises
    ------
    SinkError
        When the topic exists, an argument is wrong, or the file can't be written to.

    """
    if not 1 <= n_partitions <= _MOST_PARTITIONS:
        raise SinkError(
            f"n_partitions = {n_partitions}: a topic has 1 to {_MOST_PARTITIONS:,} partitions"
        )
    check_name(name, SinkError)
    with (
        closing(Database(Path(path), create=True, error=SinkError)) as database,
        database.write() as connection,
    ):
        if find_topic(connection, name) is not None:
            raise SinkError(f"{path} has a topic {name!r} already: choose another name")
        return _create(connection, name, n_partitions, retention or Retention())


def set_retention(path: Path | str, name: str, retention: Retention) -> None:
    """Change what each partition of a topic keeps.

    Raises
    ------
    NoStreamError
        When there is no such file or topic.
    SinkError
        When the file can't be written to.

    """
    with closing(_existing(path)) as database, database.write() as connection:
        topic = require_topic(connection, database.path, name)
        connection.execute(
            "UPDATE topics SET keep_records = ?, keep_seconds = ?, keep_bytes = ? WHERE number = ?",
            (*_checked(retention), topic.number),
        )


def trim(path: Path | str, name: str, retention: Retention | None = None) -> int:
    """Delete old records; return their number. Other writers wait a few milliseconds at most.

    The space is used again for new records; the file does not shrink. `retention` is what to keep
    in each partition; None: the topic's own.

    Raises
    ------
    NoStreamError
        When there is no such file or topic.
    SinkError
        When the file can't be written to.

    """
    n_deleted = 0
    with closing(_existing(path)) as database:
        with database.read() as connection:
            topic = require_topic(connection, database.path, name)
            n_partitions = len(partitions_of(connection, topic.number))
        kept = _checked(topic.retention if retention is None else retention)
        for number in range(n_partitions):
            while n := _trim_slice(database, topic.number, number, kept):
                n_deleted += n
    return n_deleted


def _trim_slice(database: Database, topic: int, number: int, kept: Retention) -> int:
    with database.write() as connection:
        partition = partitions_of(connection, topic)[number]
        return delete_old(connection, partition, kept, _SLICE)


def find_topic(connection: sqlite3.Connection, name: str) -> Topic | None:
    """Return the topic of this name; None: there is none."""
    return next(_topics(connection, name), None)


def require_topic(connection: sqlite3.Connection, path: Path, name: str) -> Topic:
    """Return the topic of this name; raise NoStreamError if there is none."""
    if (topic := find_topic(connection, name)) is not None:
        return topic
    others = ", ".join(each.name for each in _topics(connection)) or "none"
    raise NoStreamError(
        f"{path} has no topic {name!r} (its topics: {others}): correct the name, or create it with "
        "`iln-stream log create`"
    )


def find_or_create_topic(database: Database, name: str, n_partitions: int = 1) -> Topic:
    """Return the topic of this name; create it with so many partitions if there is none."""
    with database.write() as connection:
        found = find_topic(connection, name)
        return found or _create(connection, name, n_partitions, Retention())


def check_name(name: str, error: type[IlnError] = SourceError) -> None:
    """Raise an error if a topic can't have this name."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", name):
        raise error(
            f"{name!r} is not a topic's name: letters, digits, '.', '_' and '-' only; if the '#' "
            "belongs to the path, give PATH#TOPIC"
        )


def _existing(path: Path | str) -> Database:
    """Open an existing file for writing."""
    Database(Path(path), create=False).close()  # raises an error rather than creating it
    return Database(Path(path), create=True, error=SinkError)


def _create(
    connection: sqlite3.Connection, name: str, n_partitions: int, retention: Retention
) -> Topic:
    topic_id, now = str(uuid.uuid4()), time.time()
    number = connection.execute(
        "INSERT INTO topics (name, topic_id, created_at, keep_records, keep_seconds, keep_bytes) "
        "VALUES (?, ?, ?, ?, ?, ?)",
        (name, topic_id, now, *_checked(retention)),
    ).lastrowid
    assert number is not None
    for each in range(n_partitions):
        slot = connection.execute(
            "INSERT INTO partitions (topic, number) VALUES (?, ?)", (number, each)
        ).lastrowid
        assert slot is not None
        create_records(connection, slot)
    return Topic(number, name, topic_id, now, retention)


def _checked(retention: Retention) -> Retention:
    for field, limit in retention._asdict().items():
        if limit is not None and limit < 0:
            raise SinkError(f"retention: {field} = {limit} is negative; leave it out for no limit")
    return retention


def _topics(connection: sqlite3.Connection, name: str | None = None) -> Iterator[Topic]:
    for number, found, topic_id, created_at, *kept in connection.execute(
        "SELECT * FROM topics WHERE ?1 IS NULL OR name = ?1 OR typeof(name) <> 'text' "
        "ORDER BY name",
        (name,),
    ).fetchall():
        if not isinstance(found, str):  # a damaged row has other types, too
            raise sqlite3.DatabaseError(
                "the file is damaged, as a topic's name is no text: restore it from a backup"
            )
        yield Topic(number, found, topic_id, created_at, Retention(*kept))


def _state(connection: sqlite3.Connection, partition: Partition) -> PartitionState:
    _, number, end, total, _ = partition
    first, before = first_record(connection, partition.slot) or (end, total)
    return PartitionState(number, first, end, total - before)


class ReadPosition(NamedTuple):
    """What a learner or a copy in the same file has read of a partition."""

    # topic that has what was made of it, such as predictions; with the horizon of forecasts
    writes_to: str
    partition: int  # partition that was read
    # committed offset: everything before it was read; None: nothing is committed yet
    next_offset: int | None
    lag: int  # records from there to the end


def readers(path: Path | str, name: str) -> list[ReadPosition]:
    """Return the readers of a topic whose committed offsets are in this file.

    Learners that write predictions elsewhere keep their offsets in snapshots only.

    Raises
    ------
    NoStreamError
        When there is no such file or topic.
    SourceError
        When the file can't be read.

    """
    with closing(Database(Path(path), create=False)) as database, database.read() as connection:
        topic = require_topic(connection, database.path, name)
        ends = {p.number: p.next_offset for p in partitions_of(connection, topic.number)}
        rows = connection.execute(
            "SELECT t.name || CASE WHEN c.source LIKE '@%' THEN c.source ELSE '' END, c.partition, "
            "c.next_offset FROM committed c "
            "JOIN topics t ON t.number = c.topic WHERE c.source_id = ? ORDER BY 1, 2",
            (topic.topic_id,),
        ).fetchall()
    return [ReadPosition(to, p, offset, ends[p] - (offset or 0)) for to, p, offset in rows]
