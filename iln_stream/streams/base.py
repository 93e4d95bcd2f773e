"""Sources: ordered streams of records."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol


class Record(NamedTuple):
    """One entry of a stream, not yet decoded.

    Parameters
    ----------
    offset
        Position in the partition; strictly increasing, with gaps allowed.
    payload
        JSON text as bytes, or the event's fields as a mapping.
    partition
        Number of the partition; that of a topic of labels is negative, see `label_partition`.
    timestamp
        When the record was written, in POSIX seconds; None if unknown.
    key
        Key that chose the partition; None: none. Bytes that are not UTF-8 are surrogate escapes.

    """

    offset: int
    payload: bytes | Mapping[str, Any] | None
    partition: int = 0
    timestamp: float | None = None
    key: str | None = None


def label_partition(number: int) -> int:
    """Return the number that a partition of a second topic, that of the labels, has within a run.

    It is negative, so that partition and offset identify a record of either topic. The function is
    its own inverse.

    Examples
    --------
    >>> from iln_stream.streams import label_partition
    >>> label_partition(0), label_partition(2), label_partition(-3)
    (-1, -3, 2)

    """
    return -1 - number


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
        ...

    @property
    def partitions(self) -> Sequence[int]:
        """The partitions that are read; (0,) if the stream has only one."""
        ...

    @property
    def exhausted(self) -> bool:
        """Whether all records were returned; always False for an endless source."""
        ...

    @property
    def lag(self) -> int | None:
        """Number of offsets still to read, None if unknown. Safe from any thread."""
        ...

    @property
    def connected(self) -> bool:
        """Whether the source is connected to its broker. Safe from any thread."""
        ...

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records, in order, after up to `timeout` seconds; possibly none.

        Raises
        ------
        SourceError
            When reading on would skip or repeat records.

        """
        ...

    def close(self) -> None:
        """Close connections and files."""
        ...


class Log(Source, Protocol):
    """A source that keeps its records, so that reading can resume at any offset."""

    @property
    def positions(self) -> Mapping[int, int]:
        """Offset where the next poll starts, by partition."""
        ...

    @property
    def ends(self) -> Mapping[int, int]:
        """Offset after the last known record, by partition."""
        ...

    @property
    def topic_id(self) -> str | None:
        """Id of the topic, which changes if the topic is deleted and recreated; None if unknown."""
        ...

    @property
    def n_partitions(self) -> int:
        """Number of partitions of the topic."""
        ...

    def stop_here(self) -> None:
        """End the stream here: `exhausted` becomes True."""
        ...
