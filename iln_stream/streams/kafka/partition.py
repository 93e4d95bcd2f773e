"""Reading one partition of a Kafka topic, whatever the client."""

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from iln_stream.errors import IlnWarning, LostPlaceError, NoStreamError, SourceError
from iln_stream.streams.base import Record, Resume, Start

log = logging.getLogger(__name__)

ANSWER_WITHIN_SECONDS = 30.0
"""Time limit for calls that would otherwise wait for a broker for ever."""


class KafkaPartition(ABC):
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
        start = require_start(topic, start)
        self.stream = topic
        self.partition = partition
        self.partitions = (partition,)
        self.topic_id: str | None = None
        """The broker's id of the topic; None before Kafka 2.8."""
        self.n_partitions = 0
        self._position = 0
        self._end = 0
        self._stop_at: int | None = None
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

    @property
    @abstractmethod
    def connected(self) -> bool:
        """Whether the client is connected to a broker. Safe from any thread."""

    @property
    def position(self) -> int:
        """Offset where the next poll starts."""
        return self._position

    @property
    def positions(self) -> Mapping[int, int]:
        """The position by partition."""
        return {self.partition: self._position}

    @property
    def exhausted(self) -> bool:
        """Whether the offset to stop at was reached; always False without one."""
        return self._stop_at is not None and self._position >= self._stop_at

    @property
    def lag(self) -> int:
        """Offsets between the position and the last known end of the partition."""
        return max(0, self._end - self._position)

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next committed records after up to `timeout` seconds; possibly none."""
        if self.exhausted:
            return []
        records, position, end = self._fetch(timeout)
        self._end = max(self._end, end)
        if self._stop_at is None:
            self._position = position
            return records
        self._position = min(position, self._stop_at)
        return [record for record in records if record.offset < self._stop_at]

    def stop_here(self) -> None:
        """End the stream here: `exhausted` becomes True."""
        self._stop_at = self._position

    @abstractmethod
    def close(self) -> None:
        """Close the connection."""

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

    @abstractmethod
    def _fetch(self, timeout: float) -> tuple[list[Record], int, int]:
        """Return the next records, the position after them, and the partition's end."""

    @abstractmethod
    def _first_offset(self) -> int:
        """Return the offset of the first record that was not deleted."""

    @abstractmethod
    def _end_offset(self) -> int:
        """Return the offset after the last committed record."""

    @abstractmethod
    def _offset_at(self, milliseconds: int) -> int | None:
        """Return the offset of the first record at or after a time; None if all are older."""

    def _begin(self, start: Start, stop_at_end: bool, stop_at: int | None) -> int:
        """Return the first offset to read, and set the offset to stop at."""
        self._position = self._offset_of(start)
        self._end = self._end_offset()
        if stop_at is not None:
            self._stop_at = min(stop_at, self._end)
        elif stop_at_end:
            self._stop_at = self._end
        return self._position

    def _offset_of(self, start: Start) -> int:
        if start == "earliest":
            return self._first_offset()
        if start == "latest":
            return self._end_offset()
        if isinstance(start, Resume):
            return self._resumed(start)
        at = self._offset_at(int(start.timestamp() * 1000))
        return self._end_offset() if at is None else at

    def _resumed(self, place: Resume) -> int:
        """Return the offset to resume from; raise an error if the log or the offset is gone."""
        self._position = place.offset
        if place.topic_id is not None and self.topic_id not in (None, place.topic_id):
            raise self._not_the_same_log("was deleted and recreated")
        first, end = self._first_offset(), self._end_offset()
        if place.offset > end:
            raise self._not_the_same_log(f"now ends at {end}, before the position")
        if place.offset >= first:
            return place.offset
        if place.accept_loss:
            log.warning("%s: records %d to %d are lost, and were never learned",
                        self._here, place.offset, first - 1)  # fmt: skip
            return first
        raise LostPlaceError(
            f"{self._here}: records {place.offset} to {first - 1} were deleted by the topic's "
            "retention before they were learned. Either continue without them, with --accept-loss, "
            "or learn again from the remaining records, with `iln-stream rebuild`"
        )

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

        Parameters
        ----------
        topic_id, n_partitions
            Current values from the broker; None and 0 if unknown.

        """
        self.topic_id = self.topic_id or topic_id
        if topic_id not in (None, self.topic_id):
            raise self._not_the_same_log("was deleted and recreated")
        if n_partitions > self.n_partitions:
            warn_of_new_partitions(self.stream, self.n_partitions, n_partitions)
            self.n_partitions = n_partitions

    @property
    def _here(self) -> str:
        return f"topic {self.stream}, partition {self.partition}"

    def _out_of_range(self) -> LostPlaceError:
        return LostPlaceError(
            f"{self._here}: offset {self._position} is no longer (or not yet) available. Records "
            "were deleted by the topic's retention: start again with --start earliest and another "
            "folder of snapshots, or `iln-stream rebuild` the model in this one"
        )

    def _not_the_same_log(self, what: str) -> LostPlaceError:
        return LostPlaceError(
            f"{self._here} {what} (offset {self._position}), so it has other records than those "
            "that were learned: start again with --start earliest and another folder of snapshots, "
            "or `iln-stream rebuild` the model in this one"
        )


def no_topic(topic: str, bootstrap: str) -> NoStreamError:
    """Return the error for a topic that does not exist."""
    return NoStreamError(
        f"there is no topic {topic!r} at {bootstrap}; create it, or fill it with "
        "`iln-stream replay`"
    )


def require_start(topic: str, start: Start | None) -> Start:
    """Return the start; raise SourceError if it is None."""
    if start is None:
        raise SourceError(
            f"start: choose where in topic {topic} to begin: earliest, latest or a time"
        )
    return start


def warn_of_new_partitions(topic: str, n_before: int, n_now: int) -> None:
    """Warn that keys may have moved to partitions that no learner reads."""
    warnings.warn(
        f"topic {topic} has {n_now} partitions and had {n_before}: events of one key may now be "
        "in another partition, and only what --partitions names is learned",
        IlnWarning,
        stacklevel=2,
    )
