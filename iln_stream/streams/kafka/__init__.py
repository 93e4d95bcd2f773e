"""Kafka topics as logs and sinks."""

from iln_stream.streams.kafka.connection import (
    CONNECTION,
    known_to,
    require_known,
    wait_for_brokers,
)
from iln_stream.streams.kafka.consumer import KafkaSource
from iln_stream.streams.kafka.prediction_sink import KafkaPredictionSink
from iln_stream.streams.kafka.producer import KafkaAppender, KafkaSink
from iln_stream.streams.kafka.transactional import KafkaTransactionalSink

__all__ = [
    "CONNECTION",
    "KafkaAppender",
    "KafkaPredictionSink",
    "KafkaSink",
    "KafkaSource",
    "KafkaTransactionalSink",
    "known_to",
    "require_known",
    "wait_for_brokers",
]
