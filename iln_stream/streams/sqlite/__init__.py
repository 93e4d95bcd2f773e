"""Embedded logs: topics in an SQLite file, for one machine without a broker."""

from iln_stream.streams.sqlite.appender import SqliteAppender
from iln_stream.streams.sqlite.log import SqliteLog
from iln_stream.streams.sqlite.records import partition_of_key
from iln_stream.streams.sqlite.retention import Retention
from iln_stream.streams.sqlite.sink import SqliteSink
from iln_stream.streams.sqlite.topics import (
    PartitionState,
    Topic,
    TopicState,
    create_topic,
    set_retention,
    topics,
    trim,
)
from iln_stream.streams.sqlite.transactional import SqliteTransactionalSink

__all__ = [
    "PartitionState",
    "Retention",
    "SqliteAppender",
    "SqliteLog",
    "SqliteSink",
    "SqliteTransactionalSink",
    "Topic",
    "TopicState",
    "create_topic",
    "partition_of_key",
    "set_retention",
    "topics",
    "trim",
]
