"""Messages and events to a Kafka topic."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from kafka.errors import KafkaError, KafkaTimeoutError, TopicAlreadyExistsError
from kafka.structs import OffsetAndMetadata

from iln_stream.errors import OtherRunError, SinkError
from iln_stream.streams.addresses import KafkaClient
from iln_stream.streams.base import Appended, NewRecord, PlacedMessage
from iln_stream.streams.kafka.connection import (
    CONNECTION,
    connecting,
    denied,
    known_to,
    require_known,
)

Headers = Sequence[tuple[str, bytes]]
OnError = Callable[[BaseException], None]
"""Called with the error of each message that was not stored, from any thread."""


class Producer(Protocol):
    """Sends messages in the background, in order and each once.

    Its constructor takes the brokers, the options by their names in kafka-python, and `OnError`. It
    raises ValueError for wrong options.
    """

    errors: tuple[type[Exception], ...]
    """The errors that its methods raise."""

    def n_partitions(self, topic: str) -> int:
        """Return the number of partitions of a topic."""

    def send(
        self,
        topic: str,
        messages: Iterable[PlacedMessage],
        timestamp_ms: int | None,
        headers: Headers,
    ) -> None:
        """Queue messages for their partitions; wait while the queue is full. No timestamp: now."""

    def poll(self) -> None:
        """Report errors that have occurred in the background."""

    def flush(self, timeout: float) -> None:
        """Wait until the queued messages are stored."""

    def close(self) -> None:
        """Close the connection; call `flush` before."""

    def abandon(self) -> None:
        """Close the connection, and drop messages that wait."""

    def init_transactions(self) -> None:
        """Abort the open transaction of an earlier producer with the same transactional id."""

    def begin_transaction(self) -> None:
        """Begin a transaction."""

    def commit_transaction(
        self, group: str, source: str, positions: Mapping[int, int], metadata: str
    ) -> None:
        """Commit the messages, and a group's positions by partition in the topic `source`."""


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
        return len(self._producer.partitions_for(topic))

    def send(
        self,
        topic: str,
        messages: Iterable[PlacedMessage],
        timestamp_ms: int | None,
        headers: Headers,
    ) -> None:
        send, given, on_error = self._producer.send, list(headers), self._on_error
        for partition, key, value in messages:
            sent = send(topic, value, encoded(key), given, partition, timestamp_ms)
            sent.add_errback(on_error)

    def poll(self) -> None:
        """Do nothing: the producer's thread reports errors."""

    def flush(self, timeout: float) -> None:
        self._producer.flush(timeout=timeout)

    def close(self) -> None:
        self._producer.close(timeout=_CLOSE_WITHIN_SECONDS)

    def abandon(self) -> None:
        # Otherwise close() would wait for the brokers and give up without closing.
        self._producer._sender.force_close()
        self.close()

    def init_transactions(self) -> None:
        self._producer.init_transactions()

    def begin_transaction(self) -> None:
        self._producer.begin_transaction()

    def commit_transaction(
        self, group: str, source: str, positions: Mapping[int, int], metadata: str
    ) -> None:
        read = {
            TopicPartition(source, partition): OffsetAndMetadata(offset, metadata, -1)
            for partition, offset in positions.items()
        }
        self._producer.send_offsets_to_transaction(read, group)
        self._producer.commit_transaction()


log = logging.getLogger(__name__)

_DEFAULTS: dict[str, Any] = {**CONNECTION, "linger_ms": 20, "batch_size": 256 << 10}

OURS: dict[str, Any] = {
    "acks": "all",
    "enable_idempotence": True,
    "allow_auto_create_topics": False,
}
"""Options of a producer whose records must neither be lost nor repeated."""

_GRACE_SECONDS = 5.0
"""A flush waits longer than a delivery by this, because the delivery's own error says more."""


class KafkaSink:
    """Appends messages to partitions of a topic, in order, each exactly once.

    The producer sends in the background; if the brokers refuse a message, the next `write` or
    `flush` raises an error. The producer is idempotent: its retries neither repeat nor reorder.

    Parameters
    ----------
    topic
        Name of the topic; created if it does not exist.
    bootstrap
        Brokers, "host:port", comma-separated.
    partition
        Number of the partition to which `write` appends.
    n_partitions
        Number of partitions with which the topic is created. From 2 on, `write_all` appends to each
        partition that the topic has.
    options
        Options of `kafka.KafkaProducer` and `kafka.KafkaAdminClient`.
    client
        Library of the producer; `confluent` is faster.

    Raises
    ------
    SinkError
        When no broker answers or the topic can't be created.

    """

    def __init__(
        self,
        topic: str,
        *,
        bootstrap: str,
        partition: int = 0,
        n_partitions: int = 1,
        options: Mapping[str, Any] | None = None,
        client: KafkaClient = "kafka-python",
    ) -> None:
        self._topic = topic
        self._partition = partition
        self._error: BaseException | None = None
        given, options = options or {}, {**_DEFAULTS, **(options or {}), **OURS}
        delivery_ms = options.get(
            "delivery_timeout_ms", KafkaProducer.DEFAULT_CONFIG["delivery_timeout_ms"]
        )
        create_topic(topic, bootstrap, given, n_partitions)
        with connecting(bootstrap, options, SinkError):
            self._flush_within = delivery_ms / 1000 + _GRACE_SECONDS
            self._producer = _open(client, bootstrap, options, self._remember)
            self._n_partitions = 1 if n_partitions == 1 else self._producer.n_partitions(topic)
        if self._n_partitions < n_partitions:
            log.info(
                "topic %s has %d partitions and the source has %d: partition 0 takes the messages "
                "of the others",
                topic, self._n_partitions, n_partitions,
            )  # fmt: skip

    def write_all(self, messages: Sequence[PlacedMessage]) -> None:
        """Queue messages for the partitions of their records, or else for partition 0."""
        self._send([(self._target(partition), key, value) for partition, key, value in messages])

    def _target(self, partition: int) -> int:
        return partition if partition < self._n_partitions else 0

    def write(self, key: str | None, value: bytes, timestamp: float | None = None) -> None:
        """Queue one message."""
        self._send([(self._partition, key, value)], timestamp)

    def _send(
        self,
        messages: Iterable[PlacedMessage],
        timestamp: float | None = None,
        headers: Headers = (),
    ) -> None:
        self._raise_if_failed()
        timestamp_ms = None if timestamp is None else round(timestamp * 1000)
        try:
            self._producer.send(self._topic, messages, timestamp_ms, headers)
        except self._producer.errors as error:
            with suppress(SinkError):
                self.flush()  # store the messages before the refused one, and none after it
            self._remember(error)
            self._raise_if_failed()

    def send_queued(self) -> None:
        """Raise an error if a message failed; the producer's thread sends within `linger_ms`."""
        self._producer.poll()
        self._raise_if_failed()

    def flush(self) -> None:
        """Wait until the brokers have stored all written messages."""
        self._raise_if_failed()
        try:
            self._producer.flush(self._flush_within)
        except self._producer.errors as error:
            self._remember(error)
        self._raise_if_failed()

    def close(self) -> None:
        """Flush and close the connection; after a failure, do not wait for lost messages."""
        try:
            self.flush()
        finally:
            if self._error is None:
                self._producer.close()
            else:
                self._producer.abandon()

    def _remember(self, error: BaseException) -> None:
        self._error = self._error or error

    def _raise_if_failed(self) -> None:
        if self._error is None:
            return
        told = _told(self._error)
        if any(sign in told for sign in ("producerfenced", "code=fenced")):
            raise OtherRunError(
                f"topic {self._topic}: another process now publishes the predictions of the same "
                "records to it: stop one of them, or give each its own topic"
            ) from self._error
        raise SinkError(
            f"topic {self._topic} did not take a message: {self._error}{_remedy(self._error)}"
        ) from self._error


def encoded(key: str | None) -> bytes | None:
    """Return a message's key as it is stored."""
    return None if key is None else key.encode(errors="surrogateescape")


def _remedy(error: BaseException) -> str:
    """Return what to do about an error of either client; empty: nothing special."""
    told = _told(error)
    if "sizetoolarge" in told:
        return "; raise max.message.bytes of the topic (a dead letter needs up to 300 kB)"
    if "invalidproducerepoch" in told:
        return (
            "; the process stood still until its transaction expired, or another one now publishes "
            "the same predictions: start one of them again"
        )
    return f"; {denied(error)}" if "authorizationfailed" in told else ""


def _told(error: BaseException) -> str:
    """Return type and text of an error in the form that both clients share."""
    return f"{type(error).__name__} {error}".lower().replace("_", "")


def _open(
    client: KafkaClient, bootstrap: str, options: Mapping[str, Any], on_error: OnError
) -> Producer:
    if client == "kafka-python":
        return PythonProducer(bootstrap, options, on_error)
    from iln_stream.streams.kafka.confluent import ConfluentProducer  # an extra

    return ConfluentProducer(bootstrap, options, on_error)


def create_topic(
    topic: str, bootstrap: str, options: Mapping[str, Any], n_partitions: int = 1
) -> None:
    """Create a topic if it does not exist; `options` are those of `kafka.KafkaAdminClient`.

    Raises
    ------
    SinkError
        When no broker answers or the topic can't be created.

    """
    given, options = options, {**_DEFAULTS, **options, **OURS}
    with connecting(bootstrap, options, SinkError):
        require_known(given)
        admin = KafkaAdminClient(
            bootstrap_servers=bootstrap.split(","), **known_to(KafkaAdminClient, options)
        )
        try:
            if topic not in admin.list_topics():
                new = {topic: {"num_partitions": n_partitions, "replication_factor": -1}}
                try:
                    admin.create_topics(new, wait_for_metadata=True)
                except KafkaTimeoutError as error:
                    raise SinkError(
                        f"topic {topic} is not there after it was created: if this run's user may "
                        "create it, but not see it, give it the right Describe"
                    ) from error
        except TopicAlreadyExistsError:
            pass  # another sink created it first
        finally:
            admin.close()


_APPENDER_DEFAULTS: dict[str, Any] = {
    **CONNECTION,
    "batch_size": 128 << 10,
    # Somebody waits for the answer.
    "request_timeout_ms": 10_000,
    "delivery_timeout_ms": 15_000,
    "max_block_ms": 15_000,
}

_APPENDER_OURS: dict[str, Any] = {
    **OURS,
    "linger_ms": 50,  # `append` flushes: a longer one has no effect but to exceed the timeouts
}


class KafkaAppender:
    """Appends records to a topic; each call returns when all replicas in sync have them.

    The key chooses the partition as Java's producers do; records without a key share a partition
    for a while. A call costs a round trip, so append many at once. A broker keeps no ids: a record
    that is appended again is in the topic twice, and `is_new` is always True. The learner's
    setting `recent_ids` skips repeats.

    Parameters
    ----------
    topic
        Name of the topic; if it does not exist, it is created with a single partition.
    bootstrap
        Brokers, "host:port", comma-separated.
    options
        Options of `kafka.KafkaProducer` and `kafka.KafkaAdminClient`. Those that make appends
        durable and quick (`acks`, `enable_idempotence`, `linger_ms`) are fixed.

    Raises
    ------
    SinkError
        When no broker answers or the topic can't be created.

    """

    def __init__(
        self, topic: str, *, bootstrap: str, options: Mapping[str, Any] | None = None
    ) -> None:
        self.stream = topic
        self._failed = False
        given, options = options or {}, {**_APPENDER_DEFAULTS, **(options or {}), **_APPENDER_OURS}
        create_topic(topic, bootstrap, given)
        with connecting(bootstrap, options, SinkError):
            self._answer_within = options["delivery_timeout_ms"] / 1000 + _GRACE_SECONDS
            self._producer = KafkaProducer(
                bootstrap_servers=bootstrap.split(","), **known_to(KafkaProducer, options)
            )

    def append(self, records: Sequence[NewRecord]) -> Sequence[Appended]:
        """Append records in this order; return their positions once all of them are durable.

        Raises
        ------
        SinkError
            When one of them could not be stored; others may be. Open another appender then: this
            one appends nothing more.

        """
        if self._failed:
            raise SinkError(f"topic {self.stream}: an earlier append failed; open it again")
        try:
            sent = [self._send(record) for record in records]
            self._producer.flush(timeout=self._answer_within)
            stored = [each.get(timeout=self._answer_within) for each in sent]
        except KafkaError as error:
            self._failed = True
            raise SinkError(f"topic {self.stream} did not take a record: {error}") from error
        return [Appended(each.partition, each.offset) for each in stored]

    def close(self) -> None:
        """Close the connection; after a failure, do not wait for lost records."""
        if self._failed:
            self._producer._sender.force_close()
        self._producer.close(timeout=self._answer_within)

    def _send(self, record: NewRecord) -> Any:
        return self._producer.send(
            self.stream,
            partition=record.partition,
            key=encoded(record.key),
            value=record.value,
            timestamp_ms=None if record.timestamp is None else round(record.timestamp * 1000),
        )
