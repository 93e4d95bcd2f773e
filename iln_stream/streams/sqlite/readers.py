"""Who has read a topic, and how far."""

from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from iln_stream.streams.sqlite.database import Database
from iln_stream.streams.sqlite.records import partitions_of
from iln_stream.streams.sqlite.topics import require_topic


class Reader(NamedTuple):
    """What a learner or a copy in the same file has read of a partition.

    Parameters
    ----------
    writes_to
        Topic that has what was made of it, such as predictions; with the horizon of forecasts.
    partition
        Partition that was read.
    next_offset
        Committed offset: everything before it was read; None: nothing is committed yet.
    lag
        Records from there to the end.

    """

    writes_to: str
    partition: int
    next_offset: int | None
    lag: int


def readers(path: Path | str, name: str) -> list[Reader]:
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
    return [Reader(to, p, offset, ends[p] - (offset or 0)) for to, p, offset in rows]
