"""Fills and reads topics of an embedded log, and the settings of a run that learns them."""

import json
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


def messages(path: Path, topic: str = "predictions", partition: int = 0) -> list[dict[str, Any]]:
    """Return the values of a partition, read as JSON."""
    return [json.loads(value) for value in values(path, topic, partition)]


def forecasts(path: Path, horizon: str, topic: str = "predictions") -> list[dict[str, Any]]:
    """Return the predictions for a horizon."""
    return [each for each in messages(path, topic) if each["horizon"] == horizon]


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
