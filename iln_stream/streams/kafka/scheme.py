"""The scheme for Kafka topics."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from iln_stream.errors import SourceError
from iln_stream.streams.addresses import Scheme
from iln_stream.streams.base import Appender, Log, Sink, Source, Start
from iln_stream.streams.kafka.connection import (
    log_in,
    read_secrets,
    wait_for_brokers,
    warn_of_readable,
)
from iln_stream.streams.kafka.consumer import KafkaPartition, KafkaSource, partitions_of
from iln_stream.streams.kafka.prediction_sink import KafkaPredictionSink
from iln_stream.streams.kafka.producer import KafkaAppender, KafkaSink, create_topic
from iln_stream.streams.kafka.transactional import KafkaTransactionalSink


class KafkaScheme(Scheme):
    """`kafka:TOPIC`."""

    is_log = True
    has_transactions = True
    needs_broker = True
    needs_start = True

    @property
    def peer(self) -> str:
        """The broker."""
        return f"the broker at {self.options.bootstrap}"

    def check(self) -> None:
        """Refuse options of other sources, and a client that is not installed."""
        if not re.fullmatch(r"[A-Za-z0-9._-]{1,249}", self.name):
            raise SourceError(
                f"{self.address}: {self.name!r} is not a topic's name: letters, digits, '.', '_' "
                "and '-' only; brokers are set by bootstrap"
            )
        if self.options.limit is not None:
            raise SourceError("limit: a Kafka source has none; set stop_at_end instead")
        self._client()
        self._client_options()
        warn_of_readable(self.options.kafka_secrets)

    def wait(self, seconds: float = 30.0) -> bool:
        """Wait for a broker, so long at most; return whether one answers."""
        return wait_for_brokers(self.options.bootstrap, seconds)

    def log_in(self) -> None:
        """Connect with the options of the connection: encryption, name and password."""
        log_in(self.options.bootstrap, self._client_options())

    def partitions(self) -> Sequence[int]:
        """Return the partitions of the topic."""
        return partitions_of(self.name, self.options.bootstrap, self._client_options())

    def create(self, n_partitions: int) -> int:
        """Create the topic if it does not exist; return its number of partitions."""
        create_topic(self.name, self.options.bootstrap, self._client_options(), n_partitions)
        return len(self.partitions())

    def log(self, partition: int, start: Start | None, stop_at: int | None = None) -> Log:
        """Open a partition, with the client in the settings."""
        return self._client()(
            self.name,
            partition,
            bootstrap=self.options.bootstrap,
            start=start,
            stop_at_end=self.options.stop_at_end,
            stop_at=stop_at,
            options=self._client_options(),
        )

    def sink(self, partition: int = 0) -> Sink:
        """Open one partition of the topic for writing; create the topic if necessary."""
        return KafkaSink(self.name, partition=partition, **self._sinks_connection())

    def partitioned_sink(self, n_partitions: int) -> Sink:
        """Open all partitions of the topic for writing; create it with so many if necessary."""
        return KafkaPredictionSink(self.name, n_partitions=n_partitions, **self._sinks_connection())

    def appender(self) -> Appender:
        """Open the topic for appending events; create it if necessary."""
        return KafkaAppender(
            self.name, bootstrap=self.options.bootstrap, options=self._client_options()
        )

    def transactional_sink(
        self, source: Log, reader: str, kind: str = ""
    ) -> KafkaTransactionalSink:
        """Open the topic for writing, in transactions with the positions of `source`."""
        return KafkaTransactionalSink(
            self.name,
            source.stream,
            source.partitions,
            reader,
            f"{source.topic_id or ''}{kind}",  # marks the messages of each kind as its own
            n_partitions=source.n_partitions,
            **self._sinks_connection(),
        )

    def written(self) -> Source:
        """Open the partition that sinks write to, up to its current end."""
        options = replace(self.options, stop_at_end=True)
        return KafkaScheme(self.scheme, self.name, options).log(0, "earliest")

    def sibling(self, suffix: str) -> str:
        """Return the address of the topic with this suffix."""
        return f"kafka:{self.name}-{suffix}"

    def dead_letters(self) -> str:
        """Return the address of the topic for dead letters."""
        return self.sibling("dead-letters")

    def _sinks_connection(self) -> dict[str, Any]:
        own = self.options
        client = own.kafka_client
        return {"bootstrap": own.bootstrap, "options": self._client_options(), "client": client}

    def _client_options(self) -> dict[str, Any]:
        """Return the options of the client, with the current contents of the secrets' files."""
        plain, files = self.options.kafka_options, self.options.kafka_secrets
        if twice := sorted(plain.keys() & files.keys()):
            raise SourceError(
                f"kafka_secrets: {', '.join(twice)} is in kafka_options, too; remove it there"
            )
        return {**plain, **read_secrets(files)}

    def _client(self) -> Callable[..., KafkaPartition]:
        if self.options.kafka_client == "kafka-python":
            return KafkaSource
        try:
            from iln_stream.streams.kafka.confluent import ConfluentSource
        except ImportError as error:
            raise SourceError(
                "kafka_client = 'confluent' needs confluent-kafka: pip install "
                "'iln-stream[confluent]'"
            ) from error
        return ConfluentSource
