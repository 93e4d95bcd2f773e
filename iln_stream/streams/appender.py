"""Appenders: they add events to a log, and say where each one is."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


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
        ...

    def append(self, records: Sequence[NewRecord]) -> Sequence[Appended]:
        """Append records in this order; return their positions once all of them are durable.

        Raises
        ------
        SinkError
            When they could not be stored. Records with an id may be appended again.

        """
        ...

    def close(self) -> None:
        """Close connections and files."""
        ...
