"""confluent-kafka as the client: a faster consumer and producer."""

import json
import logging
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, cast
from uuid import UUID

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka import Producer as ConfluentClient
from confluent_kafka.admin import AdminClient

from iln_stream.errors import SourceError
from iln_stream.streams.base import PlacedMessage, Record
from iln_stream.streams.kafka.connection import (
    CONNECTION,
    CONSUMER,
    PRODUCER,
    Refusal,
    no_connection,
    translated,
)
from iln_stream.streams.kafka.consumer import (
    ANSWER_WITHIN_SECONDS,
    LOOK_WITHIN_SECONDS,
    METADATA_MAX_AGE_MS,
    KafkaPartition,
)
from iln_stream.streams.kafka.producer import Headers, OnError, encoded

_DEFAULTS: dict[str, Any] = {
    "log_level": 0,  # we log outages ourselves
    "reconnect.backoff.max.ms": 1_000,  # the default of 10 s outlasts most outages
    "message.max.bytes": 1_000_000_000,
    "receive.message.max.bytes": 1_200_000_000,
    "queued.max.messages.kbytes": 32 << 10,  # bounds memory
    "max.partition.fetch.bytes": 8 << 20,
}

_OURS: dict[str, Any] = {
    # The learner keeps the offsets: no commits, and no silent jumps. There is no group; librdkafka
    # only requires a name.
    "group.id": "iln-stream",
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "allow.auto.create.topics": False,
    "isolation.level": "read_committed",
    "enable.partition.eof": True,  # gives the position after markers and aborted records
    "statistics.interval.ms": 500,  # gives the state of the connection
}

_FORBIDDEN = {"group_id", *(name.replace(".", "_") for name in _OURS)}

_BATCH = 5_000

_WAITED_OUT = {
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._TRANSPORT,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
    KafkaError.UNKNOWN_TOPIC_OR_PART,  # while it is being deleted
    KafkaError.UNKNOWN_TOPIC_ID,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
}


class ConfluentSource(KafkaPartition):
    """A `KafkaPartition` by confluent-kafka.

    It takes the options of the connection and of fetching, by their names in kafka-python.
    """

    _client_error = KafkaException

    def _connect(self, bootstrap: str, options: Mapping[str, Any]) -> None:
        connection = {"bootstrap.servers": bootstrap, **_consumer_options(options)}
        self._bootstrap = bootstrap
        self._connected = True
        self._failed: SourceError | None = None
        self._unverified: tuple[list[Record], int] | None = None
        self._refusal: Refusal | None = None
        self._look_every_seconds = options.get("metadata_max_age_ms", METADATA_MAX_AGE_MS) / 1000
        self._look_at_topic_at = monotonic() + self._look_every_seconds
        connect_within = options.get("bootstrap_timeout_ms", CONNECTION["bootstrap_timeout_ms"])
        self._connect_within_seconds = connect_within / 1000
        try:
            self._admin = AdminClient({"log_level": 0, **connection})
            self._consumer = Consumer(
                {
                    **_DEFAULTS,
                    **connection,
                    **_OURS,
                    "stats_cb": self._read_statistics,
                    "error_cb": self._remember_refusal,
                }
            )
        except KafkaException as error:
            raise SourceError(f"bootstrap = {bootstrap!r}, kafka_options: {error}") from error

    def _watch_topic(self) -> None:
        self._is_same_topic()

    def _seek(self, offset: int) -> None:
        self._consumer.assign([self._place(offset)])

    @property
    def connected(self) -> bool:
        """Whether a broker was connected at the last `poll`. Safe from any thread."""
        return self._connected

    def close(self) -> None:
        self._consumer.close()

    def _fetch(self, timeout: float) -> tuple[list[Record], int, int]:
        if self._failed is not None:
            raise self._failed  # librdkafka reports an error only once
        try:
            return self._consume(timeout)
        except SourceError as error:
            self._failed = error
            raise

    def _consume(self, timeout: float) -> tuple[list[Record], int, int]:
        records, position = self._unverified or self._next(timeout)
        if records and not self._is_same_topic(max(timeout, 0.1)):
            self._unverified = records, position
            self._connected = False
            return [], self._position, self._end
        self._unverified = None
        if not records and self._connected and monotonic() >= self._look_at_topic_at:
            self._is_same_topic(max(timeout, 0.1))
        _, end = self._consumer.get_watermark_offsets(self._place(), cached=True)
        return records, position, max(end, position)

    def _next(self, timeout: float) -> tuple[list[Record], int]:
        records, position, origin = [], self._position, self.origin
        # `consume` alone would wait for a full batch. A message without a value is falsy.
        first = self._consumer.poll(timeout)
        for message in [] if first is None else [first, *self._consumer.consume(_BATCH, 0)]:
            if (error := message.error()) is None:
                offset, key = message.offset(), message.key()
                if key is not None:
                    key = key.decode(errors="surrogateescape")
                records.append(Record(offset, message.value(), origin, _time(message), key))
                position = offset + 1
            elif error.code() == KafkaError._PARTITION_EOF:
                position = max(position, message.offset())
            else:
                self._raise_unless_passing(error)
        return records, position

    def _raise_unless_passing(self, error: KafkaError) -> None:
        """Raise an error unless it passes by itself."""
        if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            self._is_same_topic()  # the cause may be a recreated topic
            raise self._out_of_range()
        if error.code() == KafkaError._LOG_TRUNCATION:
            raise self._not_the_same_log("now ends before the position")
        if error.code() not in _WAITED_OUT and not error.retriable():
            raise SourceError(f"topic {self.stream}: {error}")

    def _is_same_topic(self, timeout: float = ANSWER_WITHIN_SECONDS) -> bool:
        """Raise an error if the topic was recreated; return False if no broker answers.

        librdkafka would silently read on in a recreated topic.
        """
        self._look_at_topic_at = monotonic() + self._look_every_seconds
        topics = TopicCollection([self.stream])
        asked = self._admin.describe_topics(topics, request_timeout=timeout)
        try:
            found = asked[self.stream].result()
        except KafkaException:
            return False
        self._connected = True
        self._check_same_topic(_as_text(found.topic_id), len(found.partitions))
        return True

    def _read_statistics(self, statistics: str) -> None:
        brokers = json.loads(statistics)["brokers"].values()
        self._connected = any(b["state"] == "UP" for b in brokers if b["nodeid"] >= 0)

    def _remember_refusal(self, error: KafkaError) -> None:
        if error.code() == KafkaError._AUTHENTICATION:
            self._refusal = Refusal("login", error.str())
        elif error.code() == KafkaError._SSL:
            self._refusal = Refusal("TLS", error.str())

    def _list_partitions(self) -> list[int]:
        try:
            found = self._consumer.list_topics(self.stream, timeout=self._connect_within_seconds)
        except KafkaException as error:
            self._consumer.poll(0)  # calls `error_cb`
            raise SourceError(no_connection(self._bootstrap, self._refusal)) from error
        return list(found.topics[self.stream].partitions)

    def _place(self, offset: int = 0) -> TopicPartition:
        return TopicPartition(self.stream, self.partition, offset)

    def _watermarks(self) -> tuple[int, int]:
        found = self._consumer.get_watermark_offsets(self._place(), timeout=ANSWER_WITHIN_SECONDS)
        if found is None:
            raise SourceError(f"{self._here}: the broker does not return its first and last offset")
        return cast(tuple[int, int], found)

    def _first_offset(self) -> int:
        return self._watermarks()[0]

    def _end_offset(self) -> int:
        return self._watermarks()[1]

    def _end_now(self) -> int | None:
        try:
            found = self._consumer.get_watermark_offsets(self._place(), timeout=LOOK_WITHIN_SECONDS)
        except KafkaException:
            return None  # `poll` deals with it
        return None if found is None else int(found[1])

    def _offset_at(self, milliseconds: int) -> int | None:
        (found,) = self._consumer.offsets_for_times(
            [self._place(milliseconds)], timeout=ANSWER_WITHIN_SECONDS
        )
        return None if found.offset < 0 else int(found.offset)


def _time(message: Any) -> float | None:
    kind, milliseconds = message.timestamp()
    return None if kind == TIMESTAMP_NOT_AVAILABLE else milliseconds / 1000


def _as_text(found: Any) -> str:
    mask = (1 << 64) - 1
    high, low = found.get_most_significant_bits() & mask, found.get_least_significant_bits() & mask
    return str(UUID(int=high << 64 | low))


def _consumer_options(options: Mapping[str, Any]) -> dict[str, Any]:
    if taken := sorted(_FORBIDDEN & options.keys()):
        raise SourceError(
            f"kafka_options: {', '.join(taken)} can't be set; the order depends on it"
        )
    try:
        return translated(options, CONSUMER)
    except ValueError as error:
        raise SourceError(f"kafka_options: {error}") from error


log = logging.getLogger(__name__)

_PRODUCER_DEFAULTS: dict[str, Any] = {
    "reconnect.backoff.max.ms": 1_000,  # the default of 10 s outlasts most outages
    "delivery.timeout.ms": 120_000,  # as kafka-python's; 5 minutes would outlast our flushes
}

_PRODUCER_OURS: dict[str, Any] = {
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
        given = {**_PRODUCER_DEFAULTS, **translated(options, PRODUCER), **_PRODUCER_OURS}
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
        try:
            found = self._producer.list_topics(topic, timeout=ANSWER_WITHIN_SECONDS)
        except KafkaException as error:
            raise ConnectionError(error.args[0].str()) from error
        return len(found.topics[topic].partitions)

    def send(
        self,
        topic: str,
        messages: Iterable[PlacedMessage],
        timestamp_ms: int | None,
        headers: Headers,
    ) -> None:
        more = {"timestamp": timestamp_ms or 0, "headers": list(headers)}
        with self._lock:
            for partition, key, value in messages:
                while True:
                    try:
                        self._producer.produce(topic, value, encoded(key), partition, **more)
                        break
                    except BufferError:  # messages that can't be sent leave the queue in time, too
                        self._producer.poll(0.1)
                    except KafkaException as error:
                        told = f"{error.args[0].str()} ({len(value)} bytes)"
                        raise KafkaException(told) from error
            self._producer.poll(0)

    def poll(self) -> None:
        self._producer.poll(0)

    def flush(self, timeout: float) -> None:
        with self._lock:
            if not self._closed and (n_left := self._producer.flush(timeout)):
                raise TimeoutError(f"{n_left} messages were not stored in {timeout:g} s")

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            with suppress(KafkaException):  # a fatal error again
                self._producer.close()

    def abandon(self) -> None:
        if not self._closed:
            self._producer.purge()
            self.close()

    def init_transactions(self) -> None:
        self._producer.init_transactions()

    def begin_transaction(self) -> None:
        self._producer.begin_transaction()

    def commit_transaction(
        self, group: str, source: str, positions: Mapping[int, int], metadata: str
    ) -> None:
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
