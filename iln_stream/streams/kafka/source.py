"""Events from one partition of a Kafka topic."""

from collections.abc import Mapping
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    LogTruncationError,
    OffsetOutOfRangeError,
    UnsupportedCodecError,
)

from iln_stream.errors import SourceError
from iln_stream.streams.base import Record, Start
from iln_stream.streams.kafka.options import CONNECTION, known_to, require_known
from iln_stream.streams.kafka.partition import (
    ANSWER_WITHIN_SECONDS,
    KafkaPartition,
    no_topic,
    require_start,
)

_ANSWER_WITHIN_MS = int(1000 * ANSWER_WITHIN_SECONDS)

_DEFAULTS: dict[str, Any] = {
    **CONNECTION,
    "max_poll_records": 5_000,
    # A record beyond it would be fetched again for ever; what is too large for an event is a
    # dead letter, so let it come.
    "receive_message_max_bytes": 1 << 30,
    "max_partition_fetch_bytes": 8 << 20,
}

_OURS: dict[str, Any] = {
    # Order and offsets are the learner's: no group, no commits, and never a silent jump.
    "group_id": None,
    "enable_auto_commit": False,
    "auto_offset_reset": "none",
    "allow_auto_create_topics": False,
    "isolation_level": "read_committed",
}


class KafkaSource(KafkaPartition):
    """Reads a partition in offset order, committed records only; gaps in the offsets are normal.

    The partition is assigned, so no rebalance ever moves it. While the broker is away `poll`
    returns nothing and the client reconnects by itself.

    Parameters
    ----------
    topic
        Name of the topic; it must exist.
    partition
        The one partition to read: there is no order across partitions.
    bootstrap
        Brokers, "host:port", comma-separated.
    start
        "earliest", "latest", the first record written at or after a time, or the place where a
        snapshot left off. Has to be said: a default would silently skip or repeat a past.
    stop_at_end
        Be exhausted at what was the topic's end when reading began.
    stop_at
        Be exhausted at this offset, if the topic's end is not before it.
    options
        Passed to `kafka.KafkaConsumer`, as far as it knows them; those that order depends on can't
        be set.

    Raises
    ------
    SourceError
        When there is no such broker, topic or partition, `start` is missing, or the place to go on
        from is not there any more.

    """

    def __init__(
        self,
        topic: str,
        partition: int = 0,
        *,
        bootstrap: str,
        start: Start | None,
        stop_at_end: bool = False,
        stop_at: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        start = require_start(topic, start)
        super().__init__(topic, partition)
        self._tp = TopicPartition(topic, partition)
        self._consumer = _connect(bootstrap, options or {})
        try:
            self._check_partitions(self._consumer.partitions_for_topic(topic), bootstrap)
            self._consumer.assign([self._tp])
            self._check_metadata()
            self._consumer.seek(self._tp, self._begin(start, stop_at_end, stop_at))
        except KafkaError as error:
            self._consumer.close()
            raise SourceError(f"topic {topic} at {bootstrap}: {error}") from error
        except SourceError:
            self._consumer.close()
            raise

    @property
    def connected(self) -> bool:
        """Whether there is a connection to the partition's leader. Safe from any thread."""
        leader = self._metadata.leader_for_partition(self._tp)
        return bool(self._consumer._client.connected(leader))  # there is no public way

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()

    def _fetch(self, timeout: float) -> tuple[list[Record], int, int]:
        try:
            batch = self._consumer.poll(timeout_ms=int(timeout * 1000))
            # Ask the consumer rather than add 1: markers and aborted records take offsets, too.
            position = self._consumer.position(self._tp, timeout_ms=0)
            self._check_metadata()
        except OffsetOutOfRangeError as error:
            raise self._out_of_range() from error
        except LogTruncationError as error:
            raise self._not_the_same_log("now ends before our place in it") from error
        except UnsupportedCodecError as error:
            raise SourceError(
                f"topic {self.stream} is compressed, and what reads it is not installed ({error}): "
                "pip install 'iln-stream[compression]'"
            ) from error
        except KafkaError as error:
            raise SourceError(f"topic {self.stream}: {error}") from error
        partition = self.partition
        records = [
            Record(m.offset, m.value, partition, m.timestamp / 1000 if m.timestamp >= 0 else None)
            for m in batch.get(self._tp, ())
        ]
        return records, position or self._position, self._consumer.highwater(self._tp) or 0

    def _check_metadata(self) -> None:
        topic_id = self._metadata.topic_id(self.stream)
        partitions = self._metadata.partitions_for_topic(self.stream) or ()
        self._check_same_topic(None if topic_id is None else str(topic_id), len(partitions))

    @property
    def _metadata(self) -> Any:
        # What the client knows of the cluster: there is no public way that costs no request.
        return self._consumer._cluster

    def _first_offset(self) -> int:
        found = self._consumer.beginning_offsets([self._tp], timeout_ms=_ANSWER_WITHIN_MS)
        return int(found[self._tp])

    def _end_offset(self) -> int:
        return int(self._consumer.end_offsets([self._tp], timeout_ms=_ANSWER_WITHIN_MS)[self._tp])

    def _offset_at(self, milliseconds: int) -> int | None:
        found = self._consumer.offsets_for_times(
            {self._tp: milliseconds}, timeout_ms=_ANSWER_WITHIN_MS
        )[self._tp]
        return None if found is None else int(found.offset)


def partitions_of(topic: str, bootstrap: str, options: Mapping[str, Any]) -> list[int]:
    """Return a topic's partitions, as the broker tells them.

    Raises
    ------
    SourceError
        When there is no such broker or topic.

    """
    consumer = _connect(bootstrap, options)
    try:
        found = consumer.partitions_for_topic(topic)
    except KafkaError as error:
        raise SourceError(f"topic {topic} at {bootstrap}: {error}") from error
    finally:
        consumer.close()
    if not found:
        raise no_topic(topic, bootstrap)
    return sorted(found)


def _connect(bootstrap: str, options: Mapping[str, Any]) -> KafkaConsumer:
    if taken := sorted(_OURS.keys() & options.keys()):
        raise SourceError(f"kafka_options: {', '.join(taken)} can't be set; order depends on it")
    given = {**_DEFAULTS, **known_to(KafkaConsumer, options), **_OURS}
    try:
        require_known(options)
        return KafkaConsumer(bootstrap_servers=bootstrap.split(","), **given)
    except KafkaTimeoutError as error:
        raise SourceError(
            f"no Kafka broker answers at {bootstrap}: is it running, and "
            "are kafka_options what it wants?"
        ) from error
    except KafkaError as error:
        raise SourceError(f"Kafka at {bootstrap}: {error}") from error
    except (AssertionError, OSError, TypeError, ValueError) as error:
        raise SourceError(f"bootstrap = {bootstrap!r}, kafka_options: {error}") from error
