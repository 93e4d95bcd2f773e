"""The time that records tell."""

from bisect import bisect_left, insort
from collections import deque

from iln_stream.state import StateDict

AROUND = 15
"""Records before and after one whose times count for it."""

_RECORDS = 2 * AROUND + 1


class RecordClock:
    """The median of the last 31 records' times, in POSIX seconds.

    It depends on the records alone, never on when they are read, so a replay shows the same times.
    A few records dated 2099 do not move it to 2099. It stands still while no record comes. When a
    record came is known 15 records later, by the median of those around it: a stream that goes on
    after a pause of days dates its next record after the pause.

    Examples
    --------
    >>> from iln_stream.prequential.late import RecordClock
    >>> clock = RecordClock()
    >>> for time in (10.0, 11.0, 4e9, 12.0):
    ...     clock.see(time)
    >>> clock.time
    11.0

    """

    def __init__(self) -> None:
        self._times: deque[float] = deque()
        self._sorted: list[float] = []
        self.time: float | None = None

    def see(self, time: float | None) -> None:
        """Note the time of a record; None: it is unknown."""
        if time is None:
            return
        times, ordered = self._times, self._sorted
        if len(times) == _RECORDS:
            first = times.popleft()
            del ordered[0 if first == ordered[0] else bisect_left(ordered, first)]
        times.append(time)
        if ordered and time < ordered[-1]:
            insort(ordered, time)
        else:
            ordered.append(time)
        self.time = ordered[(len(ordered) - 1) // 2]

    def state(self) -> StateDict:
        """Return the times that count."""
        return {"times": list(self._times)}

    def restore(self, state: StateDict) -> None:
        """Replace the times by those of a `state()`."""
        self._times.clear()
        self._sorted.clear()
        self.time = None
        for time in state["times"]:
            self.see(time)
