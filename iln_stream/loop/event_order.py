"""Whether events come in the order of their times."""

from collections.abc import Sequence
from datetime import UTC, datetime
from math import inf

from iln_stream.errors import RefusedError
from iln_stream.loop.step import MOST_IN_A_ROW, Listener, Step
from iln_stream.loop.steps import Steps

_FEW, _MOST = 0.01, 0.9
"""Shares of events that are older than the event before: what is warned of, and what is refused."""

_FIRST, _LEAST, _TURNS, _MIXED = 10_000, 20, 5, 0.3
"""Several series are recognised in the first 10,000 events, from the 20th on: five times at least
the time does not grow, and 30 % of the events have a time that had passed before."""

_EVERY = 100
"""Events from one check of the order to the next."""


class EventOrder(Listener):
    """Counts events that are older than the event before; late labels are no events.

    If it `refuses`, a stream that runs backwards ends the run, as a file can be sorted. If it is of
    `one_series`, so does a stream whose times are those of several series.
    """

    most_steps = MOST_IN_A_ROW

    def __init__(self, name: str, *, refuses: bool = True, one_series: bool = False) -> None:
        self.name = name
        # n, n_older: number of events with a time, and of those that are older than the event
        # before
        self.n = self.n_older = 0
        # first, last: smallest and greatest time of an event, in POSIX seconds; None: no event has
        # a time
        self.first: float | None = None
        self.last: float | None = None
        self._refuses = refuses
        self._one_series = one_series
        self._n_turns = self._n_passed = 0
        self._begins_again = False  # two in a row, by half of the time that has passed
        self._passed = -inf  # two events in a row reached it: one dated 2099 does not
        self._before: tuple[int, float] | None = None
        self._example = ""

    def on_steps(self, steps: Sequence[Step]) -> None:
        """Compare the times of events in a row; most only grow, and need no closer look."""
        times = [time for time in Steps.of(steps).time if time is not None]
        if not times:
            return
        if self._before is None or self._one_series or len(times) < len(steps):
            super().on_steps(steps)
            return
        before = self._before[1]
        if times != sorted(times) or times[0] < max(before, self._passed):
            super().on_steps(steps)
            return
        self.n += len(times)
        self.last = times[-1] if self.last is None else max(self.last, times[-1])
        if self._refuses:
            self._passed = max(self._passed, times[-2] if len(times) > 1 else before)
        self._before = steps[-1].offset, times[-1]

    def on_step(self, step: Step) -> None:
        """Compare the event's time with that of the event before.

        Raises
        ------
        RefusedError
            When the stream runs backwards, or is not one series; see `check`.

        """
        time = step.time
        if time is None or step.late:
            return
        self.n += 1
        self.first = time if self.first is None else min(self.first, time)
        self.last = time if self.last is None else max(self.last, time)
        if self._one_series and self._before is not None and self.n <= _FIRST:
            turns = time <= self._before[1]
            self._n_turns += turns
            self._n_passed += turns or time <= self._passed
        if self._before is not None and time < self._before[1]:
            self.n_older += 1
            if not self._example:
                offset, before = self._before
                other = f"record {offset} ({time_text(before)})"
                self._example = f"record {step.offset} ({time_text(time)}) after {other}"
        if self._before is not None and (self._refuses or self._one_series):
            earlier, later = min(time, self._before[1]), max(time, self._before[1])
            falls = 2 * (self._passed - later) > self._passed - self.first
            self._begins_again |= falls and self._refuses and self.n > _EVERY
            self._passed = max(self._passed, earlier)
        self._before = step.offset, time
        if self.n % _EVERY == 0:
            self.check()

    def check(self) -> str | None:
        """Return what is wrong, if over 1 % of the events are out of order, or times begin anew.

        Raises
        ------
        RefusedError
            When a stream that can be sorted runs backwards: three or more of its events, and more
            than 90 % of all, are older than the event before. And when the events should be one
            series, and their times repeat or go back as those of several do.

        """
        problem = (
            f"{self.n_older:,} of {self.n:,} events are older than the event before, such as "
            f"{self._example}. Events are learned in the order in which they come: sort them by "
            "time, the oldest first"
        )
        if self._refuses and self.n_older > max(2, _MOST * (self.n - 1)):
            raise RefusedError(f"{self.name}: newest first: {problem}")
        n = min(self.n, _FIRST)
        if n >= _LEAST and self._n_turns >= _TURNS and self._n_passed >= _MIXED * n:
            raise RefusedError(
                f"{self.name}: horizon: the times of {self._n_passed:,} of {n:,} records repeat or "
                "go back, as those of several series in one stream do, and a forecast would get "
                "the label of another series: name the fields that tell the series apart, such as "
                'series = "shop,article". If it is one series, sort its records by time, skip '
                "repeats by their ids (recent_ids), or unset time_field if its clock is coarse"
            )
        return problem if self._begins_again or self.n_older > _FEW * self.n else None


def time_text(time: float) -> str:
    """Return a time in RFC 3339, or as the number that it is if there is no such time."""
    try:
        return datetime.fromtimestamp(time, UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return repr(time)
