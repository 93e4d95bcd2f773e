"""A source for tests, records from a list; and all that a source has."""

from collections.abc import Iterable, Sequence
from typing import Any

from iln_stream.streams import Record, StreamPartition

LIST = StreamPartition("list", 0)


class ListSource:
    """Hands out the given records in batches of the given size."""

    stream = "list"
    partitions = (2,)
    connected = True

    def __init__(self, records: Iterable[Record], batch: int = 3) -> None:
        self._records = list(records)
        self._batch = batch
        self.polls = 0
        self.closed = False

    @property
    def exhausted(self) -> bool:
        return not self._records

    @property
    def lag(self) -> int:
        return len(self._records)

    def poll(self, timeout: float) -> Sequence[Record]:
        self.polls += 1
        batch, self._records = self._records[: self._batch], self._records[self._batch :]
        return batch

    def close(self) -> None:
        self.closed = True


def drained(source: Any, timeout: float = 0.0) -> list[Record]:
    """All records that a source has up to its end."""
    records: list[Record] = []
    while not source.exhausted:
        records += source.poll(timeout)
    return records
