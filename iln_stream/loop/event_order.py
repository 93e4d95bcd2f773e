"""Whether events come in the order of their times."""

from datetime import UTC, datetime

from iln_stream.errors import RefusedError
from iln_stream.loop.step import Listener, Step

_FEW, _MOST = 0.01, 0.9
"""Shares of events that are older than the event before: what is warned of, and what is refused."""

_EVERY = 100
"""Events from one check of the order to the next."""


class EventOrder(Listener):
    """Counts events that are older than the event before; late labels are no events.

    Parameters
    ----------
    name
        Name of the stream in messages.
    refuses
        Whether a stream that runs backwards ends the run, as a file can be sorted.

    Attributes
    ----------
    n, n_older : int
        Number of events with a time, and of those that are older than the event before.
    first, last : float or None
        Smallest and greatest time of an event, in POSIX seconds; None: no event has a time.

    """

    def __init__(self, name: str, *, refuses: bool = True) -> None:
        self.name = name
        self.n = self.n_older = 0
        self.first: float | None = None
        self.last: float | None = None
        self._refuses = refuses
        self._before: tuple[int, float] | None = None
        self._example = ""

    def on_step(self, step: Step) -> None:
        """Compare the event's time with that of the event before.

        Raises
        ------
        RefusedError
            When the stream runs backwards; see `check`.

        """
        time = step.time
        if time is None or step.late:
            return
        self.n += 1
        self.first = time if self.first is None else min(self.first, time)
        self.last = time if self.last is None else max(self.last, time)
        if self._before is not None and time < self._before[1]:
            self.n_older += 1
            if not self._example:
                offset, before = self._before
                self._example = (
                    f"record {step.offset} ({_text(time)}) after record {offset} ({_text(before)})"
                )
        self._before = step.offset, time
        if self.n % _EVERY == 0:
            self.check()

    def check(self) -> str | None:
        """Return what is wrong with the order, if more than 1 % of the events are out of it.

        Raises
        ------
        RefusedError
            When a stream that can be sorted runs backwards: three or more of its events, and more
            than 90 % of all, are older than the event before.

        """
        if self.n_older <= _FEW * self.n:
            return None
        problem = (
            f"{self.n_older:,} of {self.n:,} events are older than the event before, such as "
            f"{self._example}. Events are learned in the order in which they come: sort them by "
            "time, the oldest first"
        )
        if self._refuses and self.n_older > max(2, _MOST * (self.n - 1)):
            raise RefusedError(f"{self.name}: newest first: {problem}")
        return problem


def _text(time: float) -> str:
    try:
        return datetime.fromtimestamp(time, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return repr(time)
