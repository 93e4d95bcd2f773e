"""Events from one partition of a Kafka topic, by kafka-python."""

import warnings
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from time import monotonic
from typing import Any

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import (
    KafkaError,
    LogTruncationError,
    OffsetOutOfRangeError,
    UnsupportedCodecError,
)

from iln_stream.errors import IlnError, IlnWarning, NoStreamError, SourceError
from iln_stream.streams.base import Record, Start
from iln_stream.streams.kafka.connection import CONNECTION, connecting, known_to, require_known
from iln_stream.streams.log import LogPartition

ANSWER_WITHIN_SECONDS = 30.0
"""Time limit for calls that would otherwise wait for a broker for ever."""

_LOOK_EVERY_SECONDS = 1.0
"""While fetched records are read, the partition's end is looked up this often: both clients fetch
far ahead, and the end that came with the last fetch may be minutes old."""

METADATA_MAX_AGE_MS = 30_000
"""By default the topic is looked at this often, whether it has new partitions or was recreated."""

LOOK_WITHIN_SECONDS = 1.0
"""Time limit for that look."""


class KafkaPartition(LogPartition):
    """Reads a partition in offset order, committed records only; gaps in the offsets are normal.

    The partition is assigned, so no rebalance ever moves it. During an outage of the broker `poll`
    returns nothing, and the client reconnects by itself.

    Parameters
    ----------
    topic
        Name of the topic; it must exist.
    partition
        The only partition to read: across partitions there is no order.
    bootstrap
        Brokers, "host:port", comma-separated.
    start
        "earliest", "latest", the first record written at or after a time, or the position of a
        snapshot. Required, because a default would silently skip or repeat records.
    stop_at_end
        Whether to stop at the end that the partition has now.
    stop_at
        Offset to stop at, if the end of the partition is not before it.
    options
        Options of `kafka.KafkaConsumer`; options of other clients are ignored, and those that would
        change the order are refused.

    Raises
    ------
    SourceError
        When the broker, topic or partition does not exist, `start` or an option is wrong, or the
        position to resume from was deleted.

    """

    _client_error: type[Exception]
    """The client's own errors."""

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
        if start is None:
            raise SourceError(
                f"start: choose where in topic {topic} to begin: earliest, latest or a time"
            )
        super().__init__(topic, partition)
        self._look_at = monotonic() + _LOOK_EVERY_SECONDS
        self._connect(bootstrap, options or {})
        try:
            self._check_partitions(self._list_partitions(), bootstrap)
            self._watch_topic()
            self._seek(self._begin(start, stop_at_end, stop_at))
        except SourceError:
            self.close()
            raise
        except self._client_error as error:
            self.close()
            raise SourceError(f"topic {topic} at {bootstrap}: {error}") from error

    def poll(self, timeout: float) -> Sequence[Record]:
        records = super().poll(timeout)
        if records and self.connected and monotonic() >= self._look_at:
            self._end = max(self._end, self._end_now() or 0)
            self._look_at = monotonic() + _LOOK_EVERY_SECONDS
        return records

    @abstractmethod
    def _end_now(self) -> int | None:
        """Return the partition's end; None if the broker does not say within a second."""

    @abstractmethod
    def _connect(self, bootstrap: str, options: Mapping[str, Any]) -> None:
        """Connect the client."""

    @abstractmethod
    def _list_partitions(self) -> Collection[int]:
        """Return the partitions of the topic; none if it does not exist."""

    @abstractmethod
    def _watch_topic(self) -> None:
        """Call `_check_same_topic` now, and at each later fetch."""

    @abstractmethod
    def _seek(self, offset: int) -> None:
        """Let the first fetch start at an offset."""

    def _check_partitions(self, found: Collection[int], bootstrap: str) -> None:
        """Raise an error if the topic or the partition does not exist."""
        if not found:
            raise no_topic(self.stream, bootstrap)
        if self.partition not in found:
            raise SourceError(
                f"topic {self.stream} has partitions {sorted(found)}, not {self.partition}"
            )
        self.n_partitions = len(found)

    def _check_same_topic(self, topic_id: str | None, n_partitions: int) -> None:
        """Raise an error if the topic was deleted and recreated; warn of new partitions.

        The broker's current values are None and 0 if unknown.
        """
        self.topic_id = self.topic_id or topic_id
        if topic_id not in (None, self.topic_id):
            raise self._not_the_same_log("was deleted and recreated")
        if n_partitions > self.n_partitions:
            warnings.warn(
                f"topic {self.stream} has {n_partitions} partitions and had {self.n_partitions}: "
                "events of one key may now be in another partition, and this run reads none of the "
                "new ones; start it again, and it learns them from their beginning, unless "
                "--partitions leaves them out",
                IlnWarning,
                stacklevel=2,
            )
            self.n_partitions = n_partitions


def no_topic(topic: str, bootstrap: str) -> NoStreamError:
    """Return the error for a topic that does not exist."""
    return NoStreamError(
        f"there is no topic {topic!r} at {bootstrap}, or this run's user has no right to see it; "
        "create it, or fill it with `iln-stream replay`"
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
        self._consumer = open_consumer(bootstrap, options)

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
        origin = self.origin
        records = [
            Record(
                m.offset,
                m.value,
                origin,
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
    consumer = open_consumer(bootstrap, options)
    try:
        found = consumer.partitions_for_topic(topic)
    except KafkaError as error:
        raise SourceError(f"topic {topic} at {bootstrap}: {error}") from error
    finally:
        consumer.close()
    if not found:
        raise no_topic(topic, bootstrap)
    return sorted(found)


def open_consumer(
    bootstrap: str,
    options: Mapping[str, Any],
    group: str | None = None,
    error: type[IlnError] = SourceError,
) -> KafkaConsumer:
    """Connect a consumer of committed records, which commits nothing; raise `error` if it can't."""
    if taken := sorted(_OURS.keys() & options.keys()):
        raise SourceError(
            f"kafka_options: {', '.join(taken)} can't be set; the order depends on it"
        )
    given = {**_DEFAULTS, **known_to(KafkaConsumer, options), **_OURS, "group_id": group}
    with connecting(bootstrap, options, error):
        require_known(options)
        return KafkaConsumer(bootstrap_servers=bootstrap.split(","), **given)
