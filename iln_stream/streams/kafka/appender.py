"""Appends events to a Kafka topic, and says where each one is."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError

from iln_stream.errors import SinkError
from iln_stream.streams.appender import Appended, NewRecord
from iln_stream.streams.kafka.connecting import connecting
from iln_stream.streams.kafka.options import CONNECTION, known_to
from iln_stream.streams.kafka.sink import OURS, create_topic

_DEFAULTS: dict[str, Any] = {
    **CONNECTION,
    "batch_size": 128 << 10,
    # Somebody waits for the answer.
    "request_timeout_ms": 10_000,
    "delivery_timeout_ms": 15_000,
    "max_block_ms": 15_000,
}

_OURS: dict[str, Any] = {
    **OURS,
    "linger_ms": 50,  # `append` flushes: a longer one has no effect but to exceed the timeouts
}

_GRACE_SECONDS = 5.0
"""An append waits longer than a delivery by this, because the delivery's own error says more."""


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
        given, options = options or {}, {**_DEFAULTS, **(options or {}), **_OURS}
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
            key=None if record.key is None else record.key.encode(errors="surrogateescape"),
            value=record.value,
            timestamp_ms=None if record.timestamp is None else round(record.timestamp * 1000),
        )
