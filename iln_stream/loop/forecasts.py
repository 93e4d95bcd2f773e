"""Events whose label is a later value of the same stream."""

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from iln_stream.loop.late_labels import RecordClock
from iln_stream.loop.pending import Pending, PendingStore
from iln_stream.loop.step import Step
from iln_stream.records import DeadLetter, Example, MalformedError
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict
from iln_stream.streams import Record

if TYPE_CHECKING:
    from iln_stream.loop.stepper import Stepper
    from iln_stream.loop.task import Task


_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_WRITTEN = re.compile(rf"([1-9][0-9]{{0,8}})({'|'.join(_UNITS)})?")


class Horizon(NamedTuple):
    """How far ahead a forecast is: a number of records, or a time.

    Parameters
    ----------
    text
        As it is written: `24` is 24 records, `24h` are 24 hours.
    steps
        Number of records; None: it is a time.
    seconds
        Time in seconds; None: it is a number of records.

    """

    text: str
    steps: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, text: str) -> "Horizon":
        """Return the horizon that is written so.

        Raises
        ------
        ValueError
            When the text is none.

        Examples
        --------
        >>> from iln_stream.loop.forecasts import Horizon
        >>> Horizon.of("24"), Horizon.of("15min").seconds
        (Horizon(text='24', steps=24, seconds=None), 900.0)

        """
        found = _WRITTEN.fullmatch(text)
        if found is None:
            raise ValueError(
                f"{text!r} is no horizon: give a number of records, such as 24, or a time with one "
                "of the units s, min, h and d, such as 24h"
            )
        number, unit = found.groups()
        if unit is None:
            return cls(text, steps=int(number))
        return cls(text, seconds=int(number) * _UNITS[unit])


MOST = 1_000_000
"""Forecasts that wait at most; beyond it the oldest expires."""

FURTHEST = 1e300
"""Intervals are at most so wide."""

TOLERANCE = 0.25
"""A value may be this part of the horizon earlier or later than the time that is forecast."""

REASONS = ("missing", "count")


class PresentValue:
    """Forecasts that a value stays as it is, until a learner knows its first label.

    The interval is that of a random walk whose steps have the mean square of the changes so far. A
    single value tells no other scale than its own size.
    """

    def __init__(self) -> None:
        self.is_needed = True
        self._n = 0
        self._last = 0.0
        self._squares = 0.0  # the sum of squared changes
        self._began: float | None = None

    @property
    def value(self) -> float | None:
        """The last value; None before the first, and once forecasts are a learner's."""
        return self._last if self.is_needed and self._n else None

    def see(self, y: float, time: float | None) -> None:
        """Note a value and its time."""
        if self._n == 0:
            self._began = time
        else:
            self._squares += (y - self._last) * (y - self._last)
        self._n, self._last = self._n + 1, y

    def interval(self, level: float, horizon: Horizon, time: float | None) -> tuple[float, float]:
        """Return an interval for the value one horizon after a time."""
        changes, steps = self._n - 1, float(horizon.steps or 1)
        if horizon.seconds and changes and None not in (time, self._began):
            passed = time - self._began  # type: ignore[operator]
            steps = max(horizon.seconds * changes / passed, 1.0) if passed > 0.0 else 1.0
        sd = sqrt(self._squares / changes) if changes else 0.0
        width = NormalDist().inv_cdf((1.0 + level) / 2.0) * sqrt(steps)
        width = min(width * (sd or abs(self._last) or 1.0), FURTHEST)
        return self._last - width, self._last + width

    def state(self) -> StateDict:
        """Return what is known."""
        return {
            "is_needed": self.is_needed, "n": self._n, "last": self._last,
            "squares": self._squares, "began": self._began,
        }  # fmt: skip

    def restore(self, state: StateDict) -> None:
        """Restore a `state()`."""
        self.is_needed, self._n, self._last = state["is_needed"], state["n"], state["last"]
        self._squares, self._began = state["squares"], state["began"]


class _Value(NamedTuple):
    """A value of the target, and the time of its record."""

    time: float
    y: Any


class Forecasts:
    """Predicts a later value of the target at each record, and learns it when it comes.

    The example's label is the target's present value. It is the label of the event that was
    predicted one horizon before; then the example itself is predicted, and waits. Its inputs may
    have all values up to the present one.

    If the horizon is a number of records, the label is the value of exactly that record. If it is a
    time, the label is the value of the record nearest to the event's time plus the horizon; it is
    known when the first record at or after this time comes. Records count that are at most a
    quarter of the horizon off.

    Until the learner knows a label, the present value is published in place of its prediction.

    A forecast whose value is missing expires, and is counted. Forecasts by time expire by the times
    of records: see `RecordClock`.

    Parameters
    ----------
    horizon
        How far ahead to predict.
    task
        Has the trivial predictors, which are scored on forecasts, too.
    levels
        Of the intervals that are published.

    """

    def __init__(self, horizon: Horizon, task: "Task", levels: Sequence[float] = ()) -> None:
        self.horizon = horizon
        self._store = PendingStore()
        self._clock = RecordClock()
        self._n_records = 0
        self._last: _Value | None = None
        self._due: list[tuple[float, int, str]] = []  # when, number of the record, key in the store
        self._trivial = task.trivial()
        self._levels = levels
        self._present = PresentValue()
        self.n_expired = dict.fromkeys(REASONS, 0)

    def __len__(self) -> int:
        """Return the number of waiting events."""
        return len(self._store)

    def outcomes(
        self, record: Record, example: Example, stepper: "Stepper"
    ) -> Iterator[Step | DeadLetter]:
        """Yield the steps that a record causes: those of forecasts of its value, then its own.

        Raises
        ------
        MalformedError
            When the record has no inputs, or no time and the horizon is one.

        """
        if example.x is None:
            raise MalformedError("x: missing; the label of a forecast is a later record's value")
        if self.horizon.seconds is not None and example.time is None:
            raise MalformedError(
                f"time: unknown, and the horizon is {self.horizon.text}: set time_field, or give "
                "the horizon as a number of records"
            )
        self._n_records += 1
        if self.horizon.steps is not None:
            yield from self._labelled_by_number(record, example, stepper, self.horizon.steps)
        else:
            yield from self._labelled_by_time(record, example, stepper)
        if example.y is not None:
            y = stepper.task.label(example.y)
            self._trivial.learn(y)
            if self._present.is_needed and type(y) is float:  # and not a class
                self._present.see(y, example.time)
        yield self._predict(record, example, example.x, stepper)

    def _labelled_by_number(
        self, record: Record, example: Example, stepper: "Stepper", steps: int
    ) -> Iterator[Step]:
        """Learn the event that came so many records before."""
        while (oldest := self._store.oldest()) is not None:
            key, _ = oldest
            number, _ = _number_and_id(key)
            if number > self._n_records - steps:
                return
            if number == self._n_records - steps and example.y is not None:
                yield self._learn(record, key, example.y, example.time, stepper)
            else:
                self._expire(key, "missing")

    def _labelled_by_time(
        self, record: Record, example: Example, stepper: "Stepper"
    ) -> Iterator[Step]:
        """Learn the events to whose time this record or the last one is the nearest."""
        now, seconds = example.time, self.horizon.seconds
        assert now is not None
        assert seconds is not None
        self._clock.see(now)
        if example.y is not None:
            value, before = _Value(now, example.y), self._last
            self._last = value
            at = 0
            while at < len(self._due) and self._due[at][0] <= now:
                due, _, key = self._due[at]
                nearest = value
                if before is not None and abs(before.time - due) < abs(now - due):
                    nearest = before
                if abs(nearest.time - due) > TOLERANCE * seconds:
                    at += 1  # another record may come, or it expires
                    continue
                del self._due[at]
                yield self._learn(record, key, nearest.y, nearest.time, stepper)
        clock = self._clock.time
        while self._due and clock is not None and self._due[0][0] + TOLERANCE * seconds < clock:
            _, _, key = self._due.pop(0)
            self._expire(key, "missing")

    def _learn(
        self, record: Record, key: str, y: Any, time: float | None, stepper: "Stepper"
    ) -> Step:
        """Learn the label of a waiting event, which waits no more even if the learner fails."""
        event = self._store.get(key)
        assert event is not None
        self._store.remove(key)
        self._present.is_needed = False
        _, event_id = _number_and_id(key)
        return stepper.learn_late(record, event_id, event, Example(None, y, event_id, time))

    def _predict(
        self, record: Record, example: Example, x: dict[str, float], stepper: "Stepper"
    ) -> Step:
        """Predict an event, which waits from now on."""
        step, token = stepper.predict(record, example, x)
        if (present := self._present.value) is not None:
            step = self._with_present(step, present)
        key = str(self._n_records) if example.id is None else f"{self._n_records}:{example.id}"
        self._store.add(
            key,
            Pending(
                x, step.y_pred, example.time, record.origin.partition, record.offset, token,
                example.weight, step.details.intervals,
                self._trivial.now,
            ),
        )  # fmt: skip
        if (due := self._due_of(key, example.time)) is not None:
            insort(self._due, due)
        if len(self._store) > MOST:
            self._expire_oldest()
        return step

    def _with_present(self, step: Step, value: float) -> Step:
        """Return the step with the present value as prediction, and its intervals if any."""
        details = step.details
        if details.intervals and self._levels:
            found = (self._present.interval(p, self.horizon, step.time) for p in self._levels)
            details = details._replace(intervals=tuple(found))
        return step._replace(y_pred=value, details=details._replace(explanation=None))

    def _due_of(self, key: str, time: float | None) -> tuple[float, int, str] | None:
        """Return the entry of `_due` for an event at a time; None: it has none."""
        if self.horizon.seconds is None or time is None:
            return None
        number, _ = _number_and_id(key)
        return time + self.horizon.seconds, number, key

    def _expire_oldest(self) -> None:
        """Let the event that waits longest expire."""
        oldest = self._store.oldest()
        assert oldest is not None
        key, _ = oldest
        event = self._store.get(key)
        assert event is not None
        if (due := self._due_of(key, event.time)) is not None:
            del self._due[bisect_left(self._due, due)]
        self._expire(key, "count")

    def _expire(self, key: str, why: str) -> None:
        self._store.remove(key)
        self.n_expired[why] += 1

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the exported metrics."""
        return (
            *self._store.metrics(),
            MetricSpec(
                "iln_pending_expired_total",
                "counter",
                "Events that expired before their label came, by reason: missing (the value that "
                "was forecast) or count.",
                lambda: dict(self.n_expired),
                "reason",
            ),
        )

    def begin_counts(self) -> None:
        """Count from 0 again."""
        self.n_expired = dict.fromkeys(REASONS, 0)

    def state(self) -> StateDict:
        """Return all that waits, and the counts."""
        return {
            "store": self._store.state(),
            "clock": self._clock.state(),
            "n_records": self._n_records,
            "last": None if self._last is None else list(self._last),
            "trivial": self._trivial.state(),
            "present": self._present.state(),
            "n_expired": dict(self.n_expired),
        }

    def restore(self, state: StateDict) -> None:
        """Replace all that waits by that of a `state()`."""
        self._store.restore(state["store"])
        self._clock.restore(state["clock"])
        self._n_records = state["n_records"]
        self._last = None if state["last"] is None else _Value(*state["last"])
        self._trivial.restore(state["trivial"])
        if "present" in state:
            self._present.restore(state["present"])
        else:  # of a release before 0.3: what it published goes on
            self._present.is_needed = False
        self.n_expired |= state["n_expired"]
        entries = (self._due_of(key, event.time) for key, event in self._store.items())
        self._due = sorted(each for each in entries if each is not None)


def _number_and_id(key: str) -> tuple[int, str | None]:
    number, has_id, event_id = key.partition(":")
    return int(number), event_id if has_id else None
