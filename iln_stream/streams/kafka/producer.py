"""What a Kafka sink needs of a client's producer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

Headers = Sequence[tuple[str, bytes]]
OnError = Callable[[BaseException], None]
"""Called with the error of each message that was not stored, from any thread."""


class Producer(Protocol):
    """Sends messages in the background, in order and each once.

    Its constructor takes the brokers, the options by their names in kafka-python, and `OnError`. It
    raises ValueError for wrong options.
    """

    errors: tuple[type[Exception], ...]
    """The errors that its methods raise."""

    def n_partitions(self, topic: str) -> int:
        """Return the number of partitions of a topic."""
        ...

    def send(
        self,
        topic: str,
        partition: int,
        key: bytes | None,
        value: bytes,
        timestamp_ms: int | None,
        headers: Headers,
    ) -> None:
        """Queue a message; wait while the queue is full. No timestamp: now."""
        ...

    def poll(self) -> None:
        """Report errors that have occurred in the background."""
        ...

    def flush(self, timeout: float) -> None:
        """Wait until the queued messages are stored."""
        ...

    def close(self) -> None:
        """Close the connection; call `flush` before."""
        ...

    def abandon(self) -> None:
        """Close the connection, and drop messages that wait."""
        ...

    def init_transactions(self) -> None:
        """Abort the open transaction of an earlier producer with the same transactional id."""
        ...

    def begin_transaction(self) -> None:
        """Begin a transaction."""
        ...

    def commit_transaction(
        self, group: str, source: str, positions: Mapping[int, int], metadata: str
    ) -> None:
        """Commit the messages, and a group's positions by partition in the topic `source`."""
        ...
