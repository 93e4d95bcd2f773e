"""Where predictions and dead letters go."""

from iln_stream.sinks.base import Sink
from iln_stream.sinks.json_lines import JsonLinesSink
from iln_stream.sinks.kafka import KafkaSink
from iln_stream.sinks.transactional import TransactionalSink

__all__ = ["JsonLinesSink", "KafkaSink", "Sink", "TransactionalSink"]
