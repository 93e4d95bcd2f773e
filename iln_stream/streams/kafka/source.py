"""Events from one partition of a Kafka topic, by kafka-python."""

from collections.abc import Collection, Mapping
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import (
    KafkaError,
    LogTruncationError,
    OffsetOutOfRangeError,
    UnsupportedCodecError,
)

from iln_stream.errors import SourceError
from iln_stream.streams.base import Record
from iln_stream.streams.kafka.connecting import connecting
from iln_stream.streams.kafka.options import CONNECTION, known_to, require_known
from iln_stream.streams.kafka.partition import (
    ANSWER_WITHIN_SECONDS,
    LOOK_WITHIN_SECONDS,
    METADATA_MAX_AGE_MS,
    KafkaPartition,
    no_topic,
)

_ANSWER_WITHIN_MS = int(1000 * ANSWER_WITHIN_SECONDS)

_DEFAULTS: dict[str, Any] = {
    **CONNECTION,
    "max_poll_records": 5_000,
    "metadata_max_age_ms": METADATA_MAX_AGE_MS,
    # The client would fetch a larger record again and again. So fetch records of any size: one that
    # is too large for an event becomes a dead letter.
    "receive_message_max_bytes": 1 << 30,
    "max_partition_fetch_bytes": 8 << 20,
}

_OURS: dict[str, Any] = {
    # The learner keeps the offsets: no group, no commits, and no silent jumps.
    "group_id": None,
    "enable_auto_commit": False,
    "auto_offset_reset": "none",
    "allow_auto_create_topics": False,
    "isolation_level": "read_committed",
}


class KafkaSource(KafkaPartition):
    """A `KafkaPartition` by kafka-python."""

    _client_error = KafkaError

    def _connect(self, bootstrap: str, options: Mapping[str, Any]) -> None:
        self._tp = TopicPartition(self.stream, self.partition)
        self._consumer = _open_consumer(bootstrap, options)

    def _list_partitions(self) -> Collection[int]:
        return self._consumer.partitions_for_topic(self.stream) or ()

    def _watch_topic(self) -> None:
        self._consumer.assign([self._tp])
        self._check_metadata()

    def _seek(self, offset: int) -> None:
        self._consumer.seek(self._tp, offset)

    @property
    def connected(self) -> bool:
        """Whether the client is connected to the partition's leader. Safe from any thread."""
        leader = self._metadata.leader_for_partition(self._tp)
        return bool(self._consumer._client.connected(leader))  # no public name

    def close(self) -> None:
        """Close the connection."""
        self._consumer.close()

    def _fetch(self, timeout: float) -> tuple[list[Record], int, int]:
        try:
            batch = self._consumer.poll(timeout_ms=int(timeout * 1000))
            # Not the last offset + 1: transaction markers and aborted records have offsets, too.
            position = self._consumer.position(self._tp, timeout_ms=0)
            self._check_metadata()
        except OffsetOutOfRangeError as error:
            raise self._out_of_range() from error
        except LogTruncationError as error:
            raise self._not_the_same_log("now ends before the position") from error
        except UnsupportedCodecError as error:
            raise SourceError(
                f"topic {self.stream} is compressed with a codec that is not installed ({error}): "
                "pip install 'iln-stream[compression]'"
            ) from error
        except KafkaError as error:
            raise SourceError(f"topic {self.stream}: {error}") from error
        partition = self.partition
        records = [
            Record(
                m.offset,
                m.value,
                partition,
                m.timestamp / 1000 if m.timestamp >= 0 else None,
                None if m.key is None else m.key.decode(errors="surrogateescape"),
            )
            for m in batch.get(self._tp, ())
        ]
        return records, position or self._position, self._consumer.highwater(self._tp) or 0

    def _check_metadata(self) -> None:
        topic_id = self._metadata.topic_id(self.stream)
        partitions = self._metadata.partitions_for_topic(self.stream) or ()
        self._check_same_topic(None if topic_id is None else str(topic_id), len(partitions))

    @property
    def _metadata(self) -> Any:
        # The client's cached metadata; the public methods send a request each time.
        return self._consumer._cluster

    def _first_offset(self) -> int:
        found = self._consumer.beginning_offsets([self._tp], timeout_ms=_ANSWER_WITHIN_MS)
        return int(found[self._tp])

    def _end_offset(self) -> int:
        return int(self._consumer.end_offsets([self._tp], timeout_ms=_ANSWER_WITHIN_MS)[self._tp])

    def _end_now(self) -> int | None:
        within = int(1000 * LOOK_WITHIN_SECONDS)
        try:
            return int(self._consumer.end_offsets([self._tp], timeout_ms=within)[self._tp])
        except KafkaError:
            return None  # `poll` deals with it

    def _offset_at(self, milliseconds: int) -> int | None:
        found = self._consumer.offsets_for_times(
            {self._tp: milliseconds}, timeout_ms=_ANSWER_WITHIN_MS
        )[self._tp]
        return None if found is None else int(found.offset)


def partitions_of(topic: str, bootstrap: str, options: Mapping[str, Any]) -> list[int]:
    """Return the partitions of a topic.

    Raises
    ------
    SourceError
        When the broker or the topic does not exist.

    """
    consumer = _open_consumer(bootstrap, options)
    try:
        found = consumer.partitions_for_topic(topic)
    except KafkaError as error:
        raise SourceError(f"topic {topic} at {bootstrap}: {error}") from error
    finally:
        consumer.close()
    if not found:
        raise no_topic(topic, bootstrap)
    return sorted(found)


def _open_consumer(bootstrap: str, options: Mapping[str, Any]) -> KafkaConsumer:
    if taken := sorted(_OURS.keys() & options.keys()):
        raise SourceError(
            f"kafka_options: {', '.join(taken)} can't be set; the order depends on it"
        )
    given = {**_DEFAULTS, **known_to(KafkaConsumer, options), **_OURS}
    with connecting(bootstrap, options, SourceError):
        require_known(options)
        return KafkaConsumer(bootstrap_servers=bootstrap.split(","), **given)
