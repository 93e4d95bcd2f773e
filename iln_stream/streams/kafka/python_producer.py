"""A producer by kafka-python."""

from collections.abc import Mapping
from typing import Any

from kafka import KafkaProducer, TopicPartition
from kafka.errors import KafkaError
from kafka.structs import OffsetAndMetadata

from iln_stream.streams.kafka.options import known_to
from iln_stream.streams.kafka.producer import Headers, OnError

_CLOSE_WITHIN_SECONDS = 30.0


class PythonProducer:
    """A `Producer` by kafka-python, which has a thread of its own."""

    errors: tuple[type[Exception], ...] = (KafkaError,)

    def __init__(self, bootstrap: str, options: Mapping[str, Any], on_error: OnError) -> None:
        self._on_error = on_error
        self._producer = KafkaProducer(
            bootstrap_servers=bootstrap.split(","), **known_to(KafkaProducer, options)
        )

    def n_partitions(self, topic: str) -> int:
        """Return the number of partitions of a topic."""
        return len(self._producer.partitions_for(topic))

    def send(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        value: bytes,
        timestamp_ms: int | None,
        headers: Headers,
    ) -> None:
        """Queue a message; wait while the queue is full. No timestamp: now."""
        self._producer.send(topic, value, key, list(headers), partition, timestamp_ms).add_errback(
            self._on_error
        )

    def poll(self) -> None:
        """Do nothing: the producer's thread reports errors."""

    def flush(self, timeout: float) -> None:
        """Wait until the queued messages are stored."""
        self._producer.flush(timeout=timeout)

    def close(self) -> None:
        """Close the connection; call `flush` before."""
        self._producer.close(timeout=_CLOSE_WITHIN_SECONDS)

    def abandon(self) -> None:
        """Close the connection, and drop messages that wait."""
        # Otherwise close() would wait for the brokers and give up without closing.
        self._producer._sender.force_close()
        self.close()

    def init_transactions(self) -> None:
        """Abort the open transaction of an earlier producer with the same transactional id."""
        self._producer.init_transactions()

    def begin_transaction(self) -> None:
        """Begin a transaction."""
        self._producer.begin_transaction()

    def commit_transaction(
        self, group: str, source: str, positions: Mapping[int, int], metadata: str
    ) -> None:
        """Commit the messages, and a group's positions by partition in the topic `source`."""
        read = {
            TopicPartition(source, partition): OffsetAndMetadata(offset, metadata, -1)
            for partition, offset in positions.items()
        }
        self._producer.send_offsets_to_transaction(read, group)
        self._producer.commit_transaction()
