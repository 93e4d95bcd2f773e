"""Sinks for predictions and dead letters."""

from collections.abc import Mapping
from typing import Protocol


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
        ...

    def send_queued(self) -> None:
        """Send queued messages, but do not wait until they are stored; may raise SinkError."""
        ...

    def flush(self) -> None:
        """Wait until all written messages are stored durably; raise SinkError on failure."""
        ...

    def close(self) -> None:
        """Flush, then close connections and files."""
        ...


class PartitionedSink(Sink, Protocol):
    """A sink that stores a message in the partition with the number of its record's."""

    def write_to(self, partition: int, key: str | None, value: bytes) -> None:
        """Write a message that a record of this partition led to.

        Partition 0 takes it if the sink has no partition of this number.
        """
        ...


class TransactionalSink(Sink, Protocol):
    """A sink that stores messages and the positions that they come from in one transaction."""

    def committed(self) -> Mapping[int, int]:
        """Return the committed offsets by partition: no message from there on is stored."""
        ...

    def flush_if_due(self) -> None:
        """Commit the open transaction if it has waited long enough; readers see nothing before."""
        ...

    def publish(self, partition: int, offset: int, key: str | None, value: bytes) -> None:
        """Write the message that a record led to; the record's position is stored with it.

        It goes to the partition of the same number, or to 0 if there is none.
        """
        ...
