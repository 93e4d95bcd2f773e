"""Rate and lag over the last minutes, by the clock."""

from collections import deque
from typing import Any

_RATE_SECONDS = 5.0
"""Time over which a rate is measured."""


class Flow:
    """Measures how fast a learner goes, from the counts at each poll."""

    def __init__(self) -> None:
        self._counts: deque[tuple[float, float]] = deque()
        self._serial = 0

    def point(self, now: float, n_events: float, lag: float | None) -> dict[str, Any]:
        """Return the next point: time, events per second (None at first), and lag."""
        counts = self._counts
        if counts and n_events < counts[-1][1]:
            counts.clear()  # another learner
        counts.append((now, n_events))
        while len(counts) > 2 and counts[1][0] <= now - _RATE_SECONDS:
            counts.popleft()
        begun, n_before = counts[0]
        rate = round((n_events - n_before) / (now - begun), 2) if now > begun else None
        self._serial += 1
        return {"serial": self._serial, "time": round(now, 2), "rate": rate, "lag": lag}
