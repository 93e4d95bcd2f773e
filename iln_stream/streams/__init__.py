"""Where events come from, and where predictions and dead letters go."""

from iln_stream.streams.base import Log, Record, Resume, Source
from iln_stream.streams.files import CsvSource, JsonLinesSink, JsonLinesSource
from iln_stream.streams.kafka import (
    KafkaPartition,
    KafkaSink,
    KafkaSource,
    Start,
    TransactionalSink,
    require_start,
    wait_for_brokers,
    warn_of_new_partitions,
)
from iln_stream.streams.river import RiverDatasetSource
from iln_stream.streams.sink import Sink

__all__ = [
    "CsvSource",
    "JsonLinesSink",
    "JsonLinesSource",
    "KafkaPartition",
    "KafkaSink",
    "KafkaSource",
    "Log",
    "Record",
    "Resume",
    "RiverDatasetSource",
    "Sink",
    "Source",
    "Start",
    "TransactionalSink",
    "require_start",
    "wait_for_brokers",
    "warn_of_new_partitions",
]
