"""Reading one partition of a log, whatever stores it, and views of it."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any

from iln_stream.errors import LostPlaceError, LostRecordsError
from iln_stream.streams.base import Log, Record, Resume, Start, StreamPartition

log = logging.getLogger(__name__)


class LogPartition(ABC):
    """Reads a partition in offset order, from a start to an optional end.

    A subclass says how to fetch records and find offsets; its constructor sets `topic_id` and
    `n_partitions`, and then calls `_begin`. Across partitions there is no order.
    """

    def __init__(self, stream: str, partition: int) -> None:
        self.stream = stream
        self.partition = partition
        self.partitions = (partition,)
        self.origin = StreamPartition(stream, partition)
        self.topic_id: str | None = None
        """Id of the topic; None if unknown."""
        self.n_partitions = 0
        self._position = 0
        self._end = 0
        self._stop_at: int | None = None
        self._at_earliest = False  # whether nothing was read since the start at "earliest"
        self._accepts_loss = False

    @property
    @abstractmethod
    def connected(self) -> bool:
        """Whether records can be fetched now. Safe from any thread."""

    @property
    def positions(self) -> Mapping[StreamPartition, int]:
        """The position by partition."""
        return {self.origin: self._position}

    @property
    def ends(self) -> Mapping[StreamPartition, int]:
        """The last known end by partition."""
        return {self.origin: self._end}

    @property
    def exhausted(self) -> bool:
        """Whether the offset to stop at was reached; always False without one."""
        return self._stop_at is not None and self._position >= self._stop_at

    @property
    def lag(self) -> int:
        """Offsets between the position and the last known end of the partition."""
        return max(0, self._end - self._position)

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records after up to `timeout` seconds; possibly none."""
        if self.exhausted:
            return []
        records, position, end = self._fetch(timeout)
        self._end = max(self._end, end)
        if records:
            self._at_earliest = False
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
    def _fetch(self, timeout: float) -> tuple[list[Record], int, int]:
        """Return the next records, the position after them, and the partition's end."""

    @abstractmethod
    def _first_offset(self) -> int:
        """Return the offset of the first record that was not deleted."""

    @abstractmethod
    def _end_offset(self) -> int:
        """Return the offset after the last record."""

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
            self._at_earliest = True
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
        self._accepts_loss = place.accept_loss
        if place.topic_id is not None and self.topic_id not in (None, place.topic_id):
            raise self._not_the_same_log("was deleted and recreated")
        first, end = self._first_offset(), self._end_offset()
        if place.offset > end:
            raise self._not_the_same_log(f"now ends at {end}, before the position")
        if place.offset >= first:
            return place.offset
        if self._may_skip_to(first):
            return first
        raise LostRecordsError({self._here: range(place.offset, first)})

    def _may_skip_to(self, first: int) -> bool:
        """Return whether reading may go on at `first`, as retention deleted what was before it."""
        if first <= self._position:
            return False
        if self._accepts_loss:
            log.warning("%s: records %d to %d are lost, and were never learned",
                        self._here, self._position, first - 1)  # fmt: skip
        return self._accepts_loss or self._at_earliest

    @property
    def _here(self) -> str:
        return f"topic {self.stream}, partition {self.partition}"

    def _out_of_range(self) -> LostPlaceError:
        return LostPlaceError(
            f"{self._here}: offset {self._position} is no longer (or not yet) available. Records "
            "were deleted by the topic's retention: --accept-loss keeps the model and skips them; "
            "--start earliest with another folder of snapshots begins with a new model"
        )

    def _not_the_same_log(self, what: str) -> LostPlaceError:
        return LostPlaceError(
            f"{self._here} {what} (offset {self._position}), so it has other records than those "
            "that were learned: start again with --start earliest and another folder of snapshots, "
            "or discard the model in this one, with `iln-stream rebuild --forget`"
        )


def passed_on(path: str) -> Any:
    """Return a property that is an attribute of an attribute, such as `_log.stream`."""
    return property(attrgetter(path))


class Selection:
    """A partition of a log that skips some offsets.

    Parameters
    ----------
    log
        One partition; `close` closes it.
    skip
        Ranges of offsets to skip.
    """

    stream: str = passed_on("_log.stream")
    partitions: Sequence[int] = passed_on("_log.partitions")
    topic_id: str | None = passed_on("_log.topic_id")
    n_partitions: int = passed_on("_log.n_partitions")
    positions: Mapping[StreamPartition, int] = passed_on("_log.positions")
    ends: Mapping[StreamPartition, int] = passed_on("_log.ends")
    exhausted: bool = passed_on("_log.exhausted")
    lag: int | None = passed_on("_log.lag")
    connected: bool = passed_on("_log.connected")

    def __init__(self, log: Log, skip: Sequence[range]) -> None:
        self._log = log
        self._skip = tuple(skip)
        self.skipped: list[range] = []  # offsets of existing records that were skipped so far
        self.n_read = 0  # number of records that were read so far, with those that were skipped

    def stop_here(self) -> None:
        self._log.stop_here()

    def close(self) -> None:
        self._log.close()

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records that are not skipped; possibly none."""
        records = self._log.poll(timeout)
        self.n_read += len(records)
        if not self._skip:
            return records
        return [record for record in records if not self._is_skipped(record)]

    def _is_skipped(self, record: Record) -> bool:
        offset = record.offset
        if not any(offset in each for each in self._skip):
            return False
        last = self.skipped[-1] if self.skipped else range(-1)
        if last.stop == offset:
            self.skipped[-1] = range(last.start, offset + 1)
        else:
            self.skipped.append(range(offset, offset + 1))
        return True
