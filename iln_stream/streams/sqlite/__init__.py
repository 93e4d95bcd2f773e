"""Embedded logs: topics in an SQLite file, for one machine without a broker."""

from iln_stream.streams.sqlite.erasing import erase
from iln_stream.streams.sqlite.log import SqliteLog
from iln_stream.streams.sqlite.records import partition_of_key
from iln_stream.streams.sqlite.topics import (
    PartitionState,
    ReadPosition,
    Retention,
    TopicState,
    create_topic,
    readers,
    set_retention,
    topics,
    trim,
)
from iln_stream.streams.sqlite.writing import (
    SqliteAppender,
    SqliteImporter,
    SqliteSink,
    SqliteTransactionalSink,
)

__all__ = [
    "PartitionState",
    "ReadPosition",
    "Retention",
    "SqliteAppender",
    "SqliteImporter",
    "SqliteLog",
    "SqliteSink",
    "SqliteTransactionalSink",
    "TopicState",
    "create_topic",
    "erase",
    "partition_of_key",
    "readers",
    "set_retention",
    "topics",
    "trim",
]
