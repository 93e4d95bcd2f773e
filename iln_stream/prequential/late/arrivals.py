"""When the events and labels that wait came."""

from collections import deque
from collections.abc import Sequence
from math import inf
from typing import TypeAlias

from iln_stream.prequential.late.record_clock import AROUND, RecordClock
from iln_stream.state import StateDict

Arrival: TypeAlias = int | tuple[str, int, int]
"""The serial number of an event that waits; or id, partition and offset of a label that does."""


class Arrivals:
    """Dates what comes by the records around it, and so 15 records later; see `RecordClock`."""

    def __init__(self) -> None:
        self._clock = RecordClock()
        self._n_records = 0
        self._undated: deque[tuple[int, Arrival]] = deque()  # with the number of the record

    @property
    def time(self) -> float | None:
        """The time of the latest records; None: unknown."""
        return self._clock.time

    def see(self, time: float | None) -> Sequence[tuple[Arrival, float]]:
        """Note the time of the next record; return what came 15 records before it, and when.

        What came before any record had a time came at -infinity.
        """
        self._clock.see(time)
        self._n_records += 1
        undated, last = self._undated, self._n_records - AROUND
        if not undated or undated[0][0] > last:
            return ()
        since = -inf if self._clock.time is None else self._clock.time
        found = []
        while undated and undated[0][0] <= last:
            found.append((undated.popleft()[1], since))
        return found

    def add(self, which: Arrival) -> None:
        """Note that this came with the last record."""
        self._undated.append((self._n_records, which))

    def state(self) -> StateDict:
        """Return times and what is not dated yet."""
        return {
            "clock": self._clock.state(),
            "n_records": self._n_records,
            "undated": [
                [n, [which] if isinstance(which, int) else list(which)]
                for n, which in self._undated
            ],
        }

    def restore(self, state: StateDict) -> None:
        """Continue from a `state()`."""
        self._clock.restore(state["clock"])
        self._n_records = state["n_records"]
        self._undated = deque(
            (n, which[0] if len(which) == 1 else tuple(which)) for n, which in state["undated"]
        )
