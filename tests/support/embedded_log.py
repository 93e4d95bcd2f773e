"""Fills and reads topics of an embedded log, and the settings of a run that learns them."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from iln_stream.service import Settings
from iln_stream.streams import Appended, NewRecord, Record
from iln_stream.streams.sqlite import SqliteAppender, SqliteLog
from support.list_source import drained


def append(
    path: Path, records: Iterable[NewRecord | bytes], topic: str = "events"
) -> list[Appended]:
    """Append records, or just their values, in one transaction."""
    new = [NewRecord(each) if isinstance(each, bytes) else each for each in records]
    with closing(SqliteAppender(path, topic, "log")) as appender:
        return list(appender.append(new))


def read(path: Path, topic: str = "events", partition: int = 0) -> list[Record]:
    """Return all records of a partition."""
    with closing(SqliteLog(path, topic, "log", partition, stop_at_end=True)) as log:
        return drained(log, 1.0)


def values(path: Path, topic: str = "events", partition: int = 0) -> list[bytes]:
    """Return the values of a partition."""
    return [bytes(record.payload) for record in read(path, topic, partition)]  # type: ignore[arg-type]


def settings_of(path: Path, **more: Any) -> Settings:
    """Return settings with which a small learner learns the log to its end, with snapshots."""
    given = {
        "source": f"sqlite:{path}",
        "snapshots": str(path.parent / "state"),
        "stop_at_end": True,
        "learner": "pool",
        "learner_options": {"size": 16},
        "metrics_port": None,
    }
    return Settings(**{**given, **more})
