"""Kafka topics as logs and sinks."""

from iln_stream.streams.kafka.appender import KafkaAppender
from iln_stream.streams.kafka.options import CONNECTION, known_to, require_known
from iln_stream.streams.kafka.partition import (
    KafkaPartition,
    require_start,
    warn_of_new_partitions,
)
from iln_stream.streams.kafka.sink import KafkaSink
from iln_stream.streams.kafka.source import KafkaSource
from iln_stream.streams.kafka.transactional import TransactionalSink
from iln_stream.streams.kafka.waiting import wait_for_brokers

__all__ = [
    "CONNECTION",
    "KafkaAppender",
    "KafkaPartition",
    "KafkaSink",
    "KafkaSource",
    "TransactionalSink",
    "known_to",
    "require_known",
    "require_start",
    "wait_for_brokers",
    "warn_of_new_partitions",
]
