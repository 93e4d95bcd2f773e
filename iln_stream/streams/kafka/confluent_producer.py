"""A producer by confluent-kafka: a message takes a tenth of kafka-python's processor time."""

import logging
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka import Producer as ConfluentClient

from iln_stream.streams.kafka.librdkafka import PRODUCER, translated
from iln_stream.streams.kafka.partition import ANSWER_WITHIN_SECONDS
from iln_stream.streams.kafka.producer import Headers, OnError

log = logging.getLogger(__name__)

_DEFAULTS: dict[str, Any] = {
    "reconnect.backoff.max.ms": 1_000,  # the default of 10 s outlasts most outages
    "delivery.timeout.ms": 120_000,  # as kafka-python's; 5 minutes would outlast our flushes
}

_OURS: dict[str, Any] = {
    "log_level": 0,  # we report errors ourselves
    "acks": "all",
    "enable.idempotence": True,
    "allow.auto.create.topics": False,
    "delivery.report.only.error": True,
}


class ConfluentProducer:
    """A `Producer` by confluent-kafka."""

    errors: tuple[type[Exception], ...] = (KafkaException, TimeoutError)

    def __init__(self, bootstrap: str, options: Mapping[str, Any], on_error: OnError) -> None:
        self._connection = {"bootstrap.servers": bootstrap, "log_level": 0, **translated(options)}
        self._on_error = on_error
        self._group_metadata: Any = None
        self._closed = False
        # A flush waits until the queue is empty, so nobody may write meanwhile.
        self._lock = threading.Lock()
        given = {**_DEFAULTS, **translated(options, PRODUCER), **_OURS}
        given["bootstrap.servers"] = bootstrap
        within = given["delivery.timeout.ms"]
        # librdkafka refuses to deliver after the end of a transaction.
        given["delivery.timeout.ms"] = min(within, given.get("transaction.timeout.ms", within))
        try:
            self._producer = ConfluentClient(
                {**given, "on_delivery": self._not_delivered, "error_cb": self._failed}, logger=log
            )
        except KafkaException as error:
            raise ValueError(error.args[0].str()) from error

    def n_partitions(self, topic: str) -> int:
        """Return the number of partitions of a topic."""
        try:
            found = self._producer.list_topics(topic, timeout=ANSWER_WITHIN_SECONDS)
        except KafkaException as error:
            raise ConnectionError(error.args[0].str()) from error
        return len(found.topics[topic].partitions)

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
        with self._lock:
            while True:
                try:
                    self._producer.produce(
                        topic, value, key, partition, timestamp=timestamp_ms or 0,
                        headers=list(headers),
                    )  # fmt: skip
                    break
                except BufferError:  # messages that can't be sent leave the queue in time, too
                    self._producer.poll(0.1)
                except KafkaException as error:
                    raise KafkaException(f"{error.args[0].str()} ({len(value)} bytes)") from error
            self._producer.poll(0)

    def poll(self) -> None:
        """Report errors that have occurred in the background."""
        self._producer.poll(0)

    def flush(self, timeout: float) -> None:
        """Wait until the queued messages are stored."""
        with self._lock:
            if not self._closed and (n_left := self._producer.flush(timeout)):
                raise TimeoutError(f"{n_left} messages were not stored in {timeout:g} s")

    def close(self) -> None:
        """Close the connection; call `flush` before."""
        if not self._closed:
            self._closed = True
            with suppress(KafkaException):  # a fatal error again
                self._producer.close()

    def abandon(self) -> None:
        """Close the connection, and drop messages that wait."""
        if not self._closed:
            self._producer.purge()
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
        if self._group_metadata is None:
            consumer = Consumer({**self._connection, "group.id": group})
            self._group_metadata = consumer.consumer_group_metadata()
            consumer.close()
        read = [
            TopicPartition(source, partition, offset, metadata)
            for partition, offset in positions.items()
        ]
        self._producer.send_offsets_to_transaction(read, self._group_metadata)
        self._producer.commit_transaction()

    def _failed(self, error: KafkaError) -> None:
        if error.fatal():  # others pass, or fail a message
            self._on_error(KafkaException(error))

    def _not_delivered(self, error: KafkaError | None, message: Any) -> None:
        if error is not None:
            self._on_error(KafkaException(error))
