"""Messages to a Kafka topic."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from kafka import KafkaAdminClient, KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError, TopicAlreadyExistsError

from iln_stream.errors import SinkError
from iln_stream.streams.kafka.options import CONNECTION, known_to, require_known

_DEFAULTS: dict[str, Any] = {**CONNECTION, "linger_ms": 20, "batch_size": 128 << 10}

_OURS: dict[str, Any] = {
    "acks": "all",
    "enable_idempotence": True,
    "allow_auto_create_topics": False,
}

_GRACE_SECONDS = 5.0
"""A flush may last so much longer than a delivery, whose own error says more."""


class KafkaSink:
    """Appends messages to one partition of a topic, in order, each stored once.

    Sending goes on in the background; a message that the brokers refuse makes the next `write` or
    `flush` raise. (The producer is idempotent: its own retries neither repeat nor reorder.)

    Parameters
    ----------
    topic
        Name of the topic; one with a single partition is created if it does not exist.
    bootstrap
        Brokers, "host:port", comma-separated.
    partition
        Of the topic.
    options
        Passed to `kafka.KafkaProducer`, the connection's also to `kafka.KafkaAdminClient`.

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
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self._topic = topic
        self._partition = partition
        self._error: BaseException | None = None
        given, options = options or {}, {**_DEFAULTS, **(options or {}), **_OURS}
        delivery_ms = options.get(
            "delivery_timeout_ms", KafkaProducer.DEFAULT_CONFIG["delivery_timeout_ms"]
        )
        servers = bootstrap.split(",")
        try:
            require_known(given)
            self._flush_within = delivery_ms / 1000 + _GRACE_SECONDS
            _ensure_topic(topic, servers, options)
            self._producer = KafkaProducer(
                bootstrap_servers=servers, **known_to(KafkaProducer, options)
            )
        except KafkaTimeoutError as error:
            raise SinkError(
                f"no Kafka broker answers at {bootstrap}: is it running, and "
                "are kafka_options what it wants?"
            ) from error
        except KafkaError as error:
            raise SinkError(f"topic {topic} at {bootstrap}: {error}") from error
        except (AssertionError, OSError, TypeError, ValueError) as error:
            raise SinkError(f"bootstrap = {bootstrap!r}, kafka_options: {error}") from error

    def write(self, key: str | None, value: bytes) -> None:
        """Queue one message."""
        self._send(key, value)

    def _send(
        self, key: str | None, value: bytes, headers: Sequence[tuple[str, bytes]] = ()
    ) -> None:
        self._raise_if_failed()
        try:
            self._producer.send(
                self._topic,
                key=None if key is None else key.encode(),
                value=value,
                headers=list(headers),
                partition=self._partition,
            ).add_errback(self._remember)
        except KafkaError as error:
            with suppress(SinkError):
                self.flush()  # what came before is stored, and nothing that comes after
            self._remember(error)
            self._raise_if_failed()

    def send_queued(self) -> None:
        """Do nothing but raise what failed: the producer's own thread sends within `linger_ms`."""
        self._raise_if_failed()

    def flush(self) -> None:
        """Return when the brokers have stored everything written so far."""
        self._raise_if_failed()
        try:
            self._producer.flush(timeout=self._flush_within)
        except KafkaError as error:
            self._remember(error)
        self._raise_if_failed()

    def close(self) -> None:
        """Flush and leave the brokers; after a failure, without waiting for what is lost."""
        try:
            self.flush()
        finally:
            if self._error is not None:
                # Else close() itself would wait for the brokers, and give up without closing.
                self._producer._sender.force_close()
            self._producer.close(timeout=self._flush_within)

    def _remember(self, error: BaseException) -> None:
        self._error = self._error or error

    def _raise_if_failed(self) -> None:
        if self._error is not None:
            raise SinkError(
                f"topic {self._topic} did not take a message: {self._error}"
            ) from self._error


def _ensure_topic(topic: str, servers: list[str], options: Mapping[str, Any]) -> None:
    admin = KafkaAdminClient(bootstrap_servers=servers, **known_to(KafkaAdminClient, options))
    try:
        if topic not in admin.list_topics():
            admin.create_topics({topic: {"num_partitions": 1, "replication_factor": -1}})
    except TopicAlreadyExistsError:
        pass  # somebody else was quicker
    finally:
        admin.close()
