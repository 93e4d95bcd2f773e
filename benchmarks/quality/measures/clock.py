"""Measures the learner's own time, without the harness."""

from time import process_time


class Clock:
    """Sums the processor time of events, and keeps the longest.

    Processor time, of all threads of the process, since whatever else the machine does must not
    change who is fast. A clock that is read costs time itself, so that is taken off.

    Examples
    --------
    >>> clock = Clock()
    >>> with clock:
    ...     pass
    >>> clock.n_events, clock.seconds < 1.0
    (1, True)

    """

    def __init__(self) -> None:
        self._own_cost = 0.0
        self._reset()
        for _ in range(1000):
            with self:
                pass
        self._own_cost = self.seconds / self.n_events
        self._reset()

    def _reset(self) -> None:
        self.n_events = 0
        self.seconds = 0.0
        self.longest = 0.0
        self._started = 0.0

    def __enter__(self) -> None:
        self._started = process_time()

    def __exit__(self, *exception: object) -> None:
        taken = max(process_time() - self._started - self._own_cost, 0.0)
        self.n_events += 1
        self.seconds += taken
        self.longest = max(self.longest, taken)

    def figures(self) -> dict[str, float]:
        """Events per second, and the longest event in milliseconds."""
        return {
            "events_per_s": round(self.n_events / self.seconds, 1),
            "longest_ms": round(1e3 * self.longest, 2),
        }
