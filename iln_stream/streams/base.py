"""Where events come from: one ordered stream of records."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol


class Record(NamedTuple):
    """One entry of a stream, not yet read as an event.

    Parameters
    ----------
    offset
        Place in the stream; strictly increasing, with gaps allowed.
    payload
        JSON text as bytes, or the event's fields where the source has them already.
    partition
        Of the stream; offsets increase within one.
    timestamp
        When the record was written, POSIX seconds; None where the stream does not say.

    """

    offset: int
    payload: bytes | Mapping[str, Any] | None
    partition: int = 0
    timestamp: float | None = None


class Resume(NamedTuple):
    """A place in a log to go on from, as a snapshot tells it.

    Parameters
    ----------
    offset
        Of the first record that is wanted.
    topic_id
        Of the log that was read; None where it wasn't known.
    accept_loss
        Whether to go on at the first record that is left, if those from `offset` on were deleted.

    """

    offset: int
    topic_id: str | None
    accept_loss: bool = False


Start = Literal["earliest", "latest"] | dt.datetime | Resume
"""Where reading begins: also the first record at or after a time, or where a snapshot left off."""


class Source(Protocol):
    """One ordered stream of records: within a partition their offsets increase.

    Implementations own their place in the stream and are used from one thread.
    """

    @property
    def stream(self) -> str:
        """Name of the stream: a topic, a file, a data set."""
        ...

    @property
    def partitions(self) -> Sequence[int]:
        """Partitions of the stream that are read; (0,) where it has only one."""
        ...

    @property
    def exhausted(self) -> bool:
        """Whether a finite source has handed out everything. Endless ones say False."""
        ...

    @property
    def lag(self) -> int | None:
        """Offsets still ahead, None where that can't be known. Safe from any thread."""
        ...

    @property
    def connected(self) -> bool:
        """Whether records could come now. Safe from any thread."""
        ...

    def poll(self, timeout: float) -> Sequence[Record]:
        """Wait up to `timeout` seconds for the next records, in order; possibly none.

        Raises
        ------
        SourceError
            When going on would skip or repeat records.

        """
        ...

    def close(self) -> None:
        """Let go of connections and files."""
        ...


class Log(Source, Protocol):
    """A source whose records stay where they are, so that reading can go on from any of them."""

    @property
    def positions(self) -> Mapping[int, int]:
        """Offset from which the next poll reads on, by partition."""
        ...

    @property
    def topic_id(self) -> str | None:
        """The identity of the topic, which one created anew under its name lacks; None: unknown."""
        ...

    @property
    def n_partitions(self) -> int:
        """How many partitions the topic has."""
        ...

    def stop_here(self) -> None:
        """Be exhausted."""
        ...
