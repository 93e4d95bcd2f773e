"""The protocols of sources, logs, sinks and appenders."""

import datetime as dt
import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from iln_stream.errors import SourceError


class StreamPartition(NamedTuple):
    """A partition of a stream, from which records come.

    Parameters
    ----------
    stream
        Name of the topic, the file or the data set.
    partition
        Number of the partition; 0 if the stream has only one.

    Examples
    --------
    >>> from iln_stream.streams import StreamPartition
    >>> str(StreamPartition("labels", 2))
    'labels:2'
    >>> StreamPartition.read("labels:2", ["events", "labels"])
    StreamPartition(stream='labels', partition=2)

    """

    stream: str
    partition: int

    def __str__(self) -> str:
        return f"{self.stream}:{self.partition}"

    @classmethod
    def read(cls, text: str | int, streams: Sequence[str]) -> "StreamPartition":
        """Return the partition with this text.

        Release 0.2.0 wrote the number alone, n in the first of the streams, that of the events, and
        -1 - n in the second one, that of the labels.
        """
        stream, colon, end = str(text).rpartition(":")
        number = int(end)
        if colon:
            return cls(stream, number)
        return cls(streams[0], number) if number >= 0 else cls(streams[1], -1 - number)


def of_stream(positions: Mapping[StreamPartition, int], stream: str) -> dict[int, int]:
    """Return the offsets of one stream by the partition's number."""
    return {p.partition: offset for p, offset in positions.items() if p.stream == stream}


def as_texts(positions: Mapping[StreamPartition, int]) -> dict[str, int]:
    """Return positions by the text of the partition, as JSON needs it."""
    return {str(p): offset for p, offset in positions.items()}


class Record(NamedTuple):
    """One entry of a stream, not yet decoded.

    Parameters
    ----------
    offset
        Position in the partition; strictly increasing, with gaps allowed.
    payload
        JSON text as bytes, or the event's fields as a mapping.
    origin
        The partition.
    timestamp
        When the record was written, in POSIX seconds; None if unknown.
    key
        Key that chose the partition; None: none. Bytes that are not UTF-8 are surrogate escapes.

    """

    offset: int
    payload: bytes | Mapping[str, Any] | None
    origin: StreamPartition
    timestamp: float | None = None
    key: str | None = None


class Resume(NamedTuple):
    """A position in a log to resume from, taken from a snapshot.

    Parameters
    ----------
    offset
        Offset of the first record to read.
    topic_id
        Id of the topic that the snapshot was made with; None if unknown.
    accept_loss
        Whether to start at the first available record if the record at `offset` was deleted.

    """

    offset: int
    topic_id: str | None
    accept_loss: bool = False


Start = Literal["earliest", "latest"] | dt.datetime | Resume
"""Where to start reading; a time means the first record written at or after it."""


class Source(Protocol):
    """One ordered stream of records: offsets increase within each partition.

    A source keeps its position in the stream. Only one thread may use it, except where noted.
    """

    @property
    def stream(self) -> str:
        """Name of the stream: a topic, a file or a data set."""

    @property
    def partitions(self) -> Sequence[int]:
        """The partitions that are read; (0,) if the stream has only one."""

    @property
    def exhausted(self) -> bool:
        """Whether all records were returned; always False for an endless source."""

    @property
    def lag(self) -> int | None:
        """Number of offsets still to read, None if unknown. Safe from any thread."""

    @property
    def connected(self) -> bool:
        """Whether the source is connected to its broker. Safe from any thread."""

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records, in order, after up to `timeout` seconds; possibly none.

        Raises
        ------
        SourceError
            When reading on would skip or repeat records.

        """

    def close(self) -> None:
        """Close connections and files."""


class Log(Source, Protocol):
    """A source that keeps its records, so that reading can resume at any offset."""

    @property
    def positions(self) -> Mapping[StreamPartition, int]:
        """Offset where the next poll starts, by partition."""

    @property
    def ends(self) -> Mapping[StreamPartition, int]:
        """Offset after the last known record, by partition."""

    @property
    def topic_id(self) -> str | None:
        """Id of the topic, which changes if the topic is deleted and recreated; None if unknown."""

    @property
    def n_partitions(self) -> int:
        """Number of partitions of the topic."""

    def stop_here(self) -> None:
        """End the stream here: `exhausted` becomes True."""


PlacedMessage: TypeAlias = tuple[int, str | None, bytes]
"""Number of the partition of the record that led to the message; key; and value (JSON text)."""


class Sink(Protocol):
    """Stores messages in the given order, or raises an error."""

    def write(self, key: str | None, value: bytes, timestamp: float | None = None) -> None:
        """Write one message (JSON text); it may be stored later, but in order.

        `timestamp` is in POSIX seconds; None means now. A sink without keys or times ignores them.

        Raises
        ------
        SinkError
            When this message or an earlier one could not be stored.

        """

    def send_queued(self) -> None:
        """Send queued messages, but do not wait until they are stored; may raise SinkError."""

    def flush(self) -> None:
        """Wait until all written messages are stored durably; raise SinkError on failure."""

    def close(self) -> None:
        """Flush, then close connections and files."""


class TransactionalSink(Sink, Protocol):
    """A sink that stores messages and the positions that they come from in one transaction."""

    def committed(self) -> Mapping[int, int]:
        """Return the committed offsets by partition: no message from there on is stored."""

    def flush_if_due(self) -> None:
        """Commit the open transaction if it has waited long enough; readers see nothing before."""

    def publish(self, partition: int, offset: int, key: str | None, value: bytes) -> None:
        """Write the message that a record led to; the record's position is stored with it.

        It goes to the partition of the same number, or to 0 if there is none.
        """


class NewRecord(NamedTuple):
    """A record to append.

    Parameters
    ----------
    value
        JSON text.
    key
        Chooses the partition: records with the same key go to the same one, in order. None: any.
    id
        A record with the id of one that the log already has is not appended again, if the log keeps
        ids; None: always appended.
    timestamp
        POSIX seconds; None: the time of appending.
    corrects
        Whether it is appended, too, if the log has its id with another value. Its id is then that
        of the newest record: only a repeat of this one is recognised.
    partition
        Number of the partition. None: the key chooses it.

    """

    value: bytes
    key: str | None = None
    id: str | None = None
    timestamp: float | None = None
    corrects: bool = False
    partition: int | None = None


class Appended(NamedTuple):
    """Where a record is.

    Parameters
    ----------
    partition, offset
        Its position.
    is_new
        Whether this call appended it; False: the log already had it, by its id.

    """

    partition: int
    offset: int
    is_new: bool = True


class Appender(Protocol):
    """Appends records to a log, durably. Only one thread may use it."""

    @property
    def stream(self) -> str:
        """Name of the log."""

    def append(self, records: Sequence[NewRecord]) -> Sequence[Appended]:
        """Append records in this order; return their positions once all of them are durable.

        Raises
        ------
        SinkError
            When they could not be stored. Records with an id may be appended again.

        """

    def close(self) -> None:
        """Close connections and files."""


_BATCH = 128
"""Records of a poll: so few that they are still in the processor's cache when they are learned."""

PAUSE: Any = object()
"""Ends a poll early, where the records since the last one fill much memory."""


class IteratorSource:
    """Gives the records of an iterator, whose offsets are their places in it, from 0.

    Records before an error are returned before it is raised.

    Parameters
    ----------
    stream
        Name of the stream.
    payloads
        What the records hold; None for one that is no record, but counts in the offsets. `PAUSE`
        does not count.
    limit
        Maximum number of payloads.

    """

    partitions = (0,)
    connected = True
    lag: int | None = None

    def __init__(self, stream: str, payloads: Iterable[Any], limit: int | None) -> None:
        self.stream = stream
        self._origin = StreamPartition(stream, 0)
        self._payloads = iter(payloads)
        self._still_wanted = sys.maxsize if limit is None else limit
        self._error: SourceError | None = None
        self._offset = 0
        self.exhausted = False

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records without waiting."""
        if self._error:
            raise self._error
        found: list[Any] = []
        paused = False
        try:
            for payload in islice(self._payloads, min(_BATCH, self._still_wanted)):
                if paused := payload is PAUSE:
                    break
                found.append(payload)
        except SourceError as error:
            if not found:
                raise
            self._error = error
        records = [
            Record(offset, payload, self._origin)
            for offset, payload in enumerate(found, start=self._offset)
            if payload is not None
        ]
        self._offset += len(found)
        self._still_wanted -= len(found)
        self.exhausted = len(found) < _BATCH and not (paused or self._error)
        return records

    def close(self) -> None:
        """Let go of the iterator."""
        self._payloads = iter(())
