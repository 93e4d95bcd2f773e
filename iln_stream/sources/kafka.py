"""Events from one partition of a Kafka topic."""

import datetime as dt
import logging
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from uuid import UUID

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import (
    KafkaError,
    KafkaTimeoutError,
    LogTruncationError,
    OffsetOutOfRangeError,
)

from iln_stream.brokers import CONNECTION, known_to, require_known
from iln_stream.errors import IlnWarning, SourceError
from iln_stream.sources.base import Record, Resume

log = logging.getLogger(__name__)

Start = Literal["earliest", "latest"] | dt.datetime | Resume

_ANSWER_WITHIN_MS = 30_000
"""For the few calls at the start that would otherwise wait for a broker for ever."""

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
        self.stream = topic
        self.partition = partition
        self._tp = TopicPartition(topic, partition)
        self._consumer = _connect(bootstrap, options or {})
        try:
            self.n_partitions = self._check_partition(bootstrap)
            self._consumer.assign([self._tp])
            self._topic_id = self._topic_id_now()
            self._position = self._offset_of(start)
            self._consumer.seek(self._tp, self._position)
            self._end = self._end_offset()
        except KafkaError as error:
            self._consumer.close()
            raise SourceError(f"topic {topic} at {bootstrap}: {error}") from error
        except SourceError:
            self._consumer.close()
            raise
        self._stop_at = self._end if stop_at_end else None
        if stop_at is not None:
            self._stop_at = min(stop_at, self._end)
        self.connected = True

    @property
    def position(self) -> int:
        """Offset from which the next poll reads on."""
        return self._position

    @property
    def topic_id(self) -> str | None:
        """The broker's own id of the topic; None if it tells none (Kafka before 2.8)."""
        return None if self._topic_id is None else str(self._topic_id)

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
                f"{self._here}: offset {self._position} is no longer (or not yet) there. Records "
                "between were deleted by the topic's retention: start again with --start earliest "
                "and a fresh model, or `iln-stream rebuild` the one in the snapshots"
            ) from error
        except LogTruncationError as error:
            raise self._not_the_same_log("now ends before our place in it") from error
        except KafkaError as error:
            raise SourceError(f"topic {self.stream}: {error}") from error
        finally:
            self.connected = self._is_connected()
        messages = batch.get(self._tp, ())
        self._position = position or self._position
        if self._stop_at is not None:
            self._position = min(self._position, self._stop_at)
        self._end = max(self._end, self._consumer.highwater(self._tp) or 0)
        return [
            Record(message.offset, message.value, _seconds(message.timestamp))
            for message in messages
            if self._stop_at is None or message.offset < self._stop_at
        ]

    def stop_here(self) -> None:
        """Be exhausted."""
        self._stop_at = self._position

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()

    def _is_connected(self) -> bool:
        leader = self._metadata.leader_for_partition(self._tp)
        return bool(self._consumer._client.connected(leader))  # no public way, either

    @property
    def _here(self) -> str:
        return f"topic {self.stream}, partition {self.partition}"

    def _check_partition(self, bootstrap: str) -> int:
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
        return len(partitions)

    def _check_same_topic(self) -> None:
        """Refuse to go on in the middle of a topic that was deleted and created anew."""
        now = self._topic_id_now()
        self._topic_id = self._topic_id or now
        if now not in (None, self._topic_id):
            raise self._not_the_same_log("was deleted and created anew")
        n_now = len(self._metadata.partitions_for_topic(self.stream) or ())
        if n_now > self.n_partitions:
            warn_of_new_partitions(self.stream, self.n_partitions, n_now)
            self.n_partitions = n_now

    def _topic_id_now(self) -> UUID | None:
        found: UUID | None = self._metadata.topic_id(self.stream)
        return found

    @property
    def _metadata(self) -> Any:
        # What the client knows of the cluster: there is no public way that costs no request.
        return self._consumer._cluster

    def _not_the_same_log(self, what: str) -> SourceError:
        return SourceError(
            f"{self._here} {what} (offset {self._position}), so it isn't what was learned: start "
            "again with --start earliest and a fresh model, or `iln-stream rebuild` the one in the "
            "snapshots"
        )

    def _offset_of(self, start: Start) -> int:
        if start == "earliest":
            found = self._consumer.beginning_offsets([self._tp], timeout_ms=_ANSWER_WITHIN_MS)
            return int(found[self._tp])
        if start == "latest":
            return self._end_offset()
        if isinstance(start, Resume):
            return self._resumed(start)
        milliseconds = int(start.timestamp() * 1000)
        at = self._consumer.offsets_for_times(
            {self._tp: milliseconds}, timeout_ms=_ANSWER_WITHIN_MS
        )[self._tp]
        return self._end_offset() if at is None else int(at.offset)  # None: all are older

    def _resumed(self, place: Resume) -> int:
        """Return the offset to go on from, if this is the log that was read and it is there."""
        self._position = place.offset
        if place.topic_id is not None and self.topic_id not in (None, place.topic_id):
            raise self._not_the_same_log("was deleted and created anew")
        first, end = self._offset_of("earliest"), self._end_offset()
        if place.offset > end:
            raise self._not_the_same_log(f"now ends at {end}, before our place in it")
        if place.offset >= first:
            return place.offset
        if place.accept_loss:
            log.warning("%s: records %d to %d are lost, and never learned",
                        self._here, place.offset, first - 1)  # fmt: skip
            return first
        raise SourceError(
            f"{self._here}: records {place.offset} to {first - 1} were deleted by the topic's "
            "retention before they were learned. Either go on without them, with --accept-loss, "
            "or learn anew from what is left, with `iln-stream rebuild`"
        )

    def _end_offset(self) -> int:
        return int(self._consumer.end_offsets([self._tp], timeout_ms=_ANSWER_WITHIN_MS)[self._tp])


def require_start(topic: str, start: Start | None) -> Start:
    """Return the start, which has to be said; raise SourceError if it isn't."""
    if start is None:
        raise SourceError(f"start: say where in topic {topic} to begin: earliest, latest or a time")
    return start


def warn_of_new_partitions(topic: str, n_before: int, n_now: int) -> None:
    """Say that keys have moved, and that nobody may be learning where they moved to."""
    warnings.warn(
        f"topic {topic} has {n_now} partitions and had {n_before}: events of one key may now be "
        "in another partition, and only what --partitions names is learned",
        IlnWarning,
        stacklevel=2,
    )


def _seconds(milliseconds: int | None) -> float | None:
    """A record's time; brokers write -1 for none."""
    return None if milliseconds is None or milliseconds < 0 else milliseconds / 1000


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
