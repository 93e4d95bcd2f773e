"""Events from one partition of a Kafka topic."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    LogTruncationError,
    OffsetOutOfRangeError,
)

from iln_stream.errors import SourceError
from iln_stream.sources.base import Record

Start = Literal["earliest", "latest"] | dt.datetime

_ANSWER_WITHIN_MS = 30_000
"""For the few calls at the start that would otherwise wait for a broker for ever."""

_DEFAULTS: dict[str, Any] = {
    "bootstrap_timeout_ms": 10_000,
    "reconnect_backoff_max_ms": 1_000,  # kafka-python's 30 s would outlast most outages
    "max_poll_records": 5_000,
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


class KafkaSource:
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
        "earliest", "latest", or the first record written at or after a time. Has to be said: a
        default would silently skip or repeat a past.
    stop_at_end
        Be exhausted at what was the topic's end when reading began.
    options
        Passed to `kafka.KafkaConsumer`, as far as it knows them; those that order depends on can't
        be set.

    Raises
    ------
    SourceError
        When there is no such broker, topic or partition, or `start` is missing.

    """

    def __init__(
        self,
        topic: str,
        partition: int = 0,
        *,
        bootstrap: str,
        start: Start | None,
        stop_at_end: bool = False,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if start is None:
            raise SourceError(
                f"start: say where in topic {topic} to begin: earliest, latest or a time"
            )
        self.stream = topic
        self.partition = partition
        self._tp = TopicPartition(topic, partition)
        self._consumer = _connect(bootstrap, options or {})
        try:
            self._check_partition(bootstrap)
            self._consumer.assign([self._tp])
            self._position = self._offset_of(start)
            self._consumer.seek(self._tp, self._position)
            self._end = self._end_offset()
            self._topic_id = self._topic_id_now()
        except KafkaError as error:
            self._consumer.close()
            raise SourceError(f"topic {topic} at {bootstrap}: {error}") from error
        except SourceError:
            self._consumer.close()
            raise
        self._stop_at = self._end if stop_at_end else None

    @property
    def exhausted(self) -> bool:
        """Whether the end asked for was reached; False for ever without `stop_at_end`."""
        return self._stop_at is not None and self._position >= self._stop_at

    @property
    def lag(self) -> int:
        """Offsets between our place and the partition's end, as the broker last told it."""
        return max(0, self._end - self._position)

    def poll(self, timeout: float) -> Sequence[Record]:
        """Wait up to `timeout` seconds for the next committed records."""
        if self.exhausted:
            return []
        try:
            batch = self._consumer.poll(timeout_ms=int(timeout * 1000))
            # Ask the consumer rather than add 1: markers and aborted records take offsets, too.
            position = self._consumer.position(self._tp, timeout_ms=0)
            self._check_same_topic()
        except OffsetOutOfRangeError as error:
            raise SourceError(
                f"topic {self.stream}, partition {self.partition}: offset {self._position} is no "
                "longer (or not yet) there. Records between were deleted by the topic's "
                "retention: start again with --start earliest, and a fresh model"
            ) from error
        except LogTruncationError as error:
            raise self._not_the_same_log("now ends before our place in it") from error
        except KafkaError as error:
            raise SourceError(f"topic {self.stream}: {error}") from error
        messages = batch.get(self._tp, ())
        self._position = position or self._position
        self._end = max(self._end, self._consumer.highwater(self._tp) or 0)
        return [
            Record(message.offset, message.value, message.timestamp / 1000)
            for message in messages
            if self._stop_at is None or message.offset < self._stop_at
        ]

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()

    def _check_partition(self, bootstrap: str) -> None:
        partitions = self._consumer.partitions_for_topic(self.stream)
        if not partitions:
            raise SourceError(
                f"there is no topic {self.stream!r} at {bootstrap}; create it, or fill it with "
                "`iln-stream replay`"
            )
        if self.partition not in partitions:
            raise SourceError(
                f"topic {self.stream} has partitions {sorted(partitions)}, not {self.partition}"
            )

    def _check_same_topic(self) -> None:
        """Refuse to go on in the middle of a topic that was deleted and created anew."""
        now = self._topic_id_now()
        self._topic_id = self._topic_id or now
        if now not in (None, self._topic_id):
            raise self._not_the_same_log("was deleted and created anew")

    def _topic_id_now(self) -> UUID | None:
        # The client's own metadata: kafka-python has no public way that costs no request.
        found: UUID | None = self._consumer._cluster.topic_id(self.stream)
        return found

    def _not_the_same_log(self, what: str) -> SourceError:
        return SourceError(
            f"topic {self.stream}, partition {self.partition} {what} (offset {self._position}), so "
            "it isn't what was learned: start again with --start earliest, and a fresh model"
        )

    def _offset_of(self, start: Start) -> int:
        if start == "earliest":
            found = self._consumer.beginning_offsets([self._tp], timeout_ms=_ANSWER_WITHIN_MS)
            return int(found[self._tp])
        if start == "latest":
            return self._end_offset()
        milliseconds = int(start.timestamp() * 1000)
        at = self._consumer.offsets_for_times(
            {self._tp: milliseconds}, timeout_ms=_ANSWER_WITHIN_MS
        )[self._tp]
        return self._end_offset() if at is None else int(at.offset)  # None: all are older

    def _end_offset(self) -> int:
        return int(self._consumer.end_offsets([self._tp], timeout_ms=_ANSWER_WITHIN_MS)[self._tp])


def _connect(bootstrap: str, options: Mapping[str, Any]) -> KafkaConsumer:
    if taken := sorted(_OURS.keys() & options.keys()):
        raise SourceError(f"kafka_options: {', '.join(taken)} can't be set; order depends on it")
    given = {**_DEFAULTS, **_of_a_consumer(options), **_OURS}
    try:
        return KafkaConsumer(bootstrap_servers=bootstrap.split(","), **given)
    except KafkaTimeoutError as error:
        raise SourceError(f"no Kafka broker answers at {bootstrap}: is it running?") from error
    except KafkaError as error:
        raise SourceError(f"Kafka at {bootstrap}: {error}") from error
    except (AssertionError, OSError, TypeError, ValueError) as error:
        raise SourceError(f"bootstrap = {bootstrap!r}, kafka_options: {error}") from error


def _of_a_consumer(options: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what only producers know: both are given the same options."""
    known = KafkaConsumer.DEFAULT_CONFIG
    theirs = KafkaProducer.DEFAULT_CONFIG.keys() | KafkaAdminClient.DEFAULT_CONFIG.keys()
    if unknown := sorted(options.keys() - known.keys() - theirs):
        raise SourceError(f"kafka_options: kafka-python has no {', '.join(unknown)}")
    return {name: value for name, value in options.items() if name in known}
