"""Kafka topics as logs and sinks."""

from iln_stream.streams.kafka.connection import (
    CONNECTION,
    known_to,
    require_known,
    wait_for_brokers,
)
from iln_stream.streams.kafka.consumer import (
    KafkaPartition,
    KafkaSource,
    require_start,
    warn_of_new_partitions,
)
from iln_stream.streams.kafka.prediction_sink import KafkaPredictionSink
from iln_stream.streams.kafka.producer import KafkaAppender, KafkaSink
from iln_stream.streams.kafka.transactional import KafkaTransactionalSink

__all__ = [
    "CONNECTION",
    "KafkaAppender",
    "KafkaPartition",
    "KafkaPredictionSink",
    "KafkaSink",
    "KafkaSource",
    "KafkaTransactionalSink",
    "known_to",
    "require_known",
    "require_start",
    "wait_for_brokers",
    "warn_of_new_partitions",
]
