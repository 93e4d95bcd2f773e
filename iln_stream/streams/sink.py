"""Where predictions and dead letters go."""

from collections.abc import Mapping
from typing import Protocol


class Sink(Protocol):
    """Stores messages in the order given, or says that it could not."""

    def write(self, key: str | None, value: bytes) -> None:
        """Hand over one message (JSON text); it may be stored later, in order.

        Raises
        ------
        SinkError
            When this message or an earlier one could not be stored.

        """
        ...

    def send_queued(self) -> None:
        """Send what waits, without waiting until it is stored; raise SinkError if that failed."""
        ...

    def flush(self) -> None:
        """Return when everything written so far is stored durably; raise SinkError otherwise."""
        ...

    def close(self) -> None:
        """Flush, then let go of connections and files."""
        ...


class TransactionalSink(Sink, Protocol):
    """A sink that stores messages together with the positions that they come from."""

    def committed(self) -> Mapping[int, int]:
        """Return, by partition, the offset from which on nothing is stored yet."""
        ...

    def flush_if_due(self) -> None:
        """Store what was handed over if it has waited long enough: readers see nothing before."""
        ...

    def publish(self, partition: int, offset: int, key: str | None, value: bytes) -> None:
        """Hand over the message that came of a record; its position is stored with it."""
        ...
