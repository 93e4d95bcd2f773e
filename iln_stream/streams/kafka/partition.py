"""What reading one partition of a Kafka topic means, whichever client does it."""

import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence

from iln_stream.errors import IlnWarning, LostPlaceError, NoStreamError, SourceError
from iln_stream.streams.base import Record, Resume, Start

log = logging.getLogger(__name__)

ANSWER_WITHIN_SECONDS = 30.0
"""For the few calls at the start that would otherwise wait for a broker for ever."""


class KafkaPartition(ABC):
    """A place in one partition: where it begins, how it moves, and when it can't go on.

    Parameters
    ----------
    topic, partition
        What is read.

    """

    def __init__(self, topic: str, partition: int) -> None:
        self.stream = topic
        self.partition = partition
        self.partitions = (partition,)
        self.topic_id: str | None = None
        """The broker's own id of the topic; None if it tells none (Kafka before 2.8)."""
        self.n_partitions = 0
        self._position = 0
        self._end = 0
        self._stop_at: int | None = None

    @property
    @abstractmethod
    def connected(self) -> bool:
        """Whether records could come now. Safe from any thread."""

    @property
    def position(self) -> int:
        """Offset from which the next poll reads on."""
        return self._position

    @property
    def positions(self) -> Mapping[int, int]:
        """The position, by partition."""
        return {self.partition: self._position}

    @property
    def exhausted(self) -> bool:
        """Whether the end asked for was reached; False for ever where none was."""
        return self._stop_at is not None and self._position >= self._stop_at

    @property
    def lag(self) -> int:
        """Offsets between our place and the partition's end, as the broker last told it."""
        return max(0, self._end - self._position)

    def poll(self, timeout: float) -> Sequence[Record]:
        """Wait up to `timeout` seconds for the next committed records."""
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
        """Be exhausted."""
        self._stop_at = self._position

    @abstractmethod
    def close(self) -> None:
        """Leave the broker."""

    @abstractmethod
    def _fetch(self, timeout: float) -> tuple[list[Record], int, int]:
        """Return the next records, the position after them, and the partition's end."""

    @abstractmethod
    def _first_offset(self) -> int:
        """Return the offset of the first record that is left."""

    @abstractmethod
    def _end_offset(self) -> int:
        """Return the offset after the last record that is committed."""

    @abstractmethod
    def _offset_at(self, milliseconds: int) -> int | None:
        """Return the offset of the first record at or after a time, None if all are older."""

    def _begin(self, start: Start, stop_at_end: bool, stop_at: int | None) -> int:
        """Return where to read from, and remember where to stop."""
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
        """Return the offset to go on from, if this is the log that was read and it is there."""
        self._position = place.offset
        if place.topic_id is not None and self.topic_id not in (None, place.topic_id):
            raise self._not_the_same_log("was deleted and created anew")
        first, end = self._first_offset(), self._end_offset()
        if place.offset > end:
            raise self._not_the_same_log(f"now ends at {end}, before our place in it")
        if place.offset >= first:
            return place.offset
        if place.accept_loss:
            log.warning("%s: records %d to %d are lost, and never learned",
                        self._here, place.offset, first - 1)  # fmt: skip
            return first
        raise LostPlaceError(
            f"{self._here}: records {place.offset} to {first - 1} were deleted by the topic's "
            "retention before they were learned. Either go on without them, with --accept-loss, "
            "or learn anew from what is left, with `iln-stream rebuild`"
        )

    def _check_partitions(self, found: Collection[int], bootstrap: str) -> None:
        """Refuse a topic or a partition that isn't there."""
        if not found:
            raise no_topic(self.stream, bootstrap)
        if self.partition not in found:
            raise SourceError(
                f"topic {self.stream} has partitions {sorted(found)}, not {self.partition}"
            )
        self.n_partitions = len(found)

    def _check_same_topic(self, topic_id: str | None, n_partitions: int) -> None:
        """Refuse to go on in the middle of a topic that was deleted and created anew.

        Parameters
        ----------
        topic_id, n_partitions
            As the broker tells them now; None and 0 if it doesn't.

        """
        self.topic_id = self.topic_id or topic_id
        if topic_id not in (None, self.topic_id):
            raise self._not_the_same_log("was deleted and created anew")
        if n_partitions > self.n_partitions:
            warn_of_new_partitions(self.stream, self.n_partitions, n_partitions)
            self.n_partitions = n_partitions

    @property
    def _here(self) -> str:
        return f"topic {self.stream}, partition {self.partition}"

    def _out_of_range(self) -> LostPlaceError:
        return LostPlaceError(
            f"{self._here}: offset {self._position} is no longer (or not yet) there. Records "
            "between were deleted by the topic's retention: start again with --start earliest "
            "and another folder of snapshots, or `iln-stream rebuild` the one in the snapshots"
        )

    def _not_the_same_log(self, what: str) -> LostPlaceError:
        return LostPlaceError(
            f"{self._here} {what} (offset {self._position}), so it isn't what was learned: start "
            "again with --start earliest and another folder of snapshots, or `iln-stream rebuild` "
            "the model in this one"
        )


def no_topic(topic: str, bootstrap: str) -> NoStreamError:
    """Return the error that says so."""
    return NoStreamError(
        f"there is no topic {topic!r} at {bootstrap}; create it, or fill it with "
        "`iln-stream replay`"
    )


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
