"""Messages to a Kafka topic."""

import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from kafka import KafkaAdminClient, KafkaProducer
from kafka.errors import KafkaTimeoutError, TopicAlreadyExistsError

from iln_stream.errors import SinkError
from iln_stream.streams.kafka.connecting import connecting, denied
from iln_stream.streams.kafka.options import CONNECTION, known_to, require_known
from iln_stream.streams.kafka.producer import Headers, OnError, Producer
from iln_stream.streams.kafka.python_producer import PythonProducer
from iln_stream.streams.scheme import KafkaClient

log = logging.getLogger(__name__)

_DEFAULTS: dict[str, Any] = {**CONNECTION, "linger_ms": 20, "batch_size": 128 << 10}

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
        Number of partitions with which the topic is created. From 2 on, `write_to` appends to each
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

    def write_to(self, partition: int, key: str | None, value: bytes) -> None:
        """Queue one message for the partition of this number, or else for partition 0."""
        self._send(key, value, partition=self._target(partition))

    def _target(self, partition: int) -> int:
        return partition if partition < self._n_partitions else 0

    def write(self, key: str | None, value: bytes, timestamp: float | None = None) -> None:
        """Queue one message."""
        self._send(key, value, timestamp)

    def _send(
        self,
        key: str | None,
        value: bytes,
        timestamp: float | None = None,
        headers: Headers = (),
        partition: int | None = None,
    ) -> None:
        self._raise_if_failed()
        try:
            self._producer.send(
                self._topic,
                self._partition if partition is None else partition,
                None if key is None else key.encode(errors="surrogateescape"),
                value,
                None if timestamp is None else round(timestamp * 1000),
                headers,
            )
        except self._producer.errors as error:
            with suppress(SinkError):
                self.flush()  # store the messages before this one, and none after it
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
        if self._error is not None:
            raise SinkError(
                f"topic {self._topic} did not take a message: {self._error}{_remedy(self._error)}"
            ) from self._error


def _remedy(error: BaseException) -> str:
    """Return what to do about an error of either client; empty: nothing special."""
    told = f"{type(error).__name__} {error}".lower().replace("_", "")
    if "sizetoolarge" in told:
        return "; raise max.message.bytes of the topic (a dead letter needs up to 300 kB)"
    return f"; {denied(error)}" if "authorizationfailed" in told else ""


def _open(
    client: KafkaClient, bootstrap: str, options: Mapping[str, Any], on_error: OnError
) -> Producer:
    if client == "kafka-python":
        return PythonProducer(bootstrap, options, on_error)
    from iln_stream.streams.kafka.confluent_producer import ConfluentProducer  # an extra

    return ConfluentProducer(bootstrap, options, on_error)


def create_topic(
    topic: str, bootstrap: str, options: Mapping[str, Any], n_partitions: int = 1
) -> None:
    """Create a topic if it does not exist.

    Parameters
    ----------
    topic
        Name of the topic.
    bootstrap
        Brokers, "host:port", comma-separated.
    options
        Options of `kafka.KafkaAdminClient`.
    n_partitions
        Number of its partitions.

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
