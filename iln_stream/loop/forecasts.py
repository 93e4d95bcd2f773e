"""Events whose label is a later value of the same stream."""

import re
from bisect import bisect_left, insort
from collections import OrderedDict, deque
from collections.abc import Iterator, Sequence
from heapq import nlargest
from math import ceil, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from iln_stream.loop.late_labels import RecordClock
from iln_stream.loop.pending import Pending, PendingStore
from iln_stream.loop.step import Step
from iln_stream.records import DeadLetter, Example, MalformedError
from iln_stream.records.series import MOST_SERIES
from iln_stream.reporting import MetricSpec
from iln_stream.state import StateDict
from iln_stream.streams import Record

if TYPE_CHECKING:
    from iln_stream.loop.stepper import Stepper
    from iln_stream.loop.task import Task


_UNITS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_WRITTEN = re.compile(rf"([1-9][0-9]{{0,8}})({'|'.join(_UNITS)})?")


class Horizon(NamedTuple):
    """How far ahead a forecast is: a number of records, or a time."""

    text: str  # as it is written: `24` is 24 records, `24h` are 24 hours
    steps: int | None = None  # number of records; None: it is a time
    seconds: float | None = None  # time in seconds; None: it is a number of records

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

    def __init__(self, *, is_needed: bool = True) -> None:
        self.is_needed = is_needed
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
        self.is_needed, self._n, self._last = state["is_needed"], state["n"], state["last"]
        self._squares, self._began = state["squares"], state["began"]


class _Value(NamedTuple):
    time: float
    y: Any


_QUANTILES = (0.5, 0.9, 1.0)
"""Of the errors of series, that are exported."""

_WORST = 10
"""Series that are shown."""

_LEAST_RATE = 0.01
"""Weight of the latest label in the error of a series."""


class _Series:
    """What is known of one series, and the forecasts of it that wait."""

    def __init__(self, index: int, trivial: Any, *, needs_present: bool) -> None:
        self.index = index
        self.n_records = 0
        self.clock = RecordClock()
        self.last: _Value | None = None
        self.trivial = trivial
        self.present = PresentValue(is_needed=needs_present)
        self.waiting: deque[str] = deque()  # keys in the store, if the horizon is a number
        self.due: list[tuple[float, int, str]] = []  # when, number of the record, key in the store
        self.n_scored = 0.0
        self.error = self.size = 0.0  # means of |error| and |y|

    def score(self, y_pred: float, y: float) -> None:
        self.n_scored += 1.0
        rate = max(1.0 / self.n_scored, _LEAST_RATE)
        self.error += rate * (abs(y_pred - y) - self.error)
        self.size += rate * (abs(y) - self.size)

    @property
    def relative_error(self) -> float:
        """The mean |error| divided by the mean |y|, of about the last 100 labels."""
        return self.error / self.size if self.size else float(self.error > 0.0)

    def state(self) -> StateDict:
        """Return all but what waits."""
        return {
            "clock": self.clock.state(),
            "n_records": self.n_records,
            "last": None if self.last is None else list(self.last),
            "trivial": self.trivial.state(),
            "present": self.present.state(),
        }

    def restore(self, state: StateDict) -> None:
        """Replace all but what waits by that of a `state()`."""
        self.clock.restore(state["clock"])
        self.n_records = state["n_records"]
        self.last = None if state["last"] is None else _Value(*state["last"])
        self.trivial.restore(state["trivial"])
        if "present" in state:
            self.present.restore(state["present"])
        else:  # of a release before 0.3: what it published goes on
            self.present.is_needed = False


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
    several
        Whether records name their series. Records and times are then counted for each series, and
        at most `MOST_SERIES` are kept: for another one, that whose last record came first is
        forgotten, and its forecasts expire.

    """

    def __init__(
        self, horizon: Horizon, task: "Task", levels: Sequence[float] = (), *, several: bool = False
    ) -> None:
        self.horizon = horizon
        self.several = several
        self._store = PendingStore()
        self._task = task
        # Frequencies of classes are those of all series, and of labels that were scored: scores
        # need classes in their own order.
        self._classes = None if task.ready is float else task.trivial()
        self._levels = levels
        self._needs_present = True
        self._n_series = 0
        self._series: OrderedDict[tuple[str, ...], _Series] = OrderedDict()
        self._by_index: dict[int, tuple[str, ...]] = {}
        if not several:
            self._only = self._new(())
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
        series = self._of(example.series) if self.several else self._only
        series.n_records += 1
        if self.horizon.steps is not None:
            yield from self._labelled_by_number(record, example, stepper, series)
        else:
            yield from self._labelled_by_time(record, example, stepper, series)
        if example.y is not None:
            y = stepper.task.label(example.y)
            if self._classes is None:
                series.trivial.learn(y)
            if self._needs_present and type(y) is float:  # and not a class
                series.present.see(y, example.time)
        yield self._predict(record, example, example.x, stepper, series)

    def _of(self, name: tuple[str, ...]) -> _Series:
        """Return the series of this name, as the one whose record is the latest."""
        found = self._series.get(name)
        if found is not None:
            self._series.move_to_end(name)
            return found
        found = self._new(name)
        if len(self._series) > MOST_SERIES:
            _, oldest = self._series.popitem(last=False)
            del self._by_index[oldest.index]
            for key in (*oldest.waiting, *(key for _, _, key in oldest.due)):
                self._expire(key, "count")
        return found

    def _new(self, name: tuple[str, ...]) -> _Series:
        trivial = self._task.trivial() if self._classes is None else self._classes
        found = _Series(self._n_series, trivial, needs_present=self._needs_present)
        self._series[name] = found
        self._by_index[self._n_series] = name
        self._n_series += 1
        return found

    def _labelled_by_number(
        self, record: Record, example: Example, stepper: "Stepper", series: _Series
    ) -> Iterator[Step]:
        """Learn the event that came so many records before."""
        assert self.horizon.steps is not None
        now = series.n_records - self.horizon.steps
        while series.waiting:
            key = series.waiting[0]
            number = _parts(key).number
            if number > now:
                return
            series.waiting.popleft()
            if number == now and example.y is not None:
                yield self._learn(record, key, example.y, example.time, stepper, series)
            else:
                self._expire(key, "missing")

    def _labelled_by_time(
        self, record: Record, example: Example, stepper: "Stepper", series: _Series
    ) -> Iterator[Step]:
        """Learn the events to whose time this record or the last one is the nearest."""
        now, seconds, waits = example.time, self.horizon.seconds, series.due
        assert now is not None
        assert seconds is not None
        series.clock.see(now)
        if example.y is not None:
            value, before = _Value(now, example.y), series.last
            series.last = value
            at = 0
            while at < len(waits) and waits[at][0] <= now:
                due, _, key = waits[at]
                nearest = value
                if before is not None and abs(before.time - due) < abs(now - due):
                    nearest = before
                if abs(nearest.time - due) > TOLERANCE * seconds:
                    at += 1  # another record may come, or it expires
                    continue
                del waits[at]
                yield self._learn(record, key, nearest.y, nearest.time, stepper, series)
        clock = series.clock.time
        while waits and clock is not None and waits[0][0] + TOLERANCE * seconds < clock:
            _, _, key = waits.pop(0)
            self._expire(key, "missing")

    def _learn(
        self,
        record: Record,
        key: str,
        y: Any,
        time: float | None,
        stepper: "Stepper",
        series: _Series,
    ) -> Step:
        """Learn the label of a waiting event, which waits no more even if the learner fails."""
        event = self._store.pop(key)
        if self._needs_present:
            self._needs_present = False
            for each in self._series.values():
                each.present.is_needed = False
        event_id = _parts(key).event_id
        label = Example(None, y, event_id, time, series=self._by_index[series.index])
        step = stepper.learn_late(record, event_id, event, label)
        if self._classes is not None:
            self._classes.learn(step.y, step.weight)
        elif self.several:
            series.score(step.y_pred, step.y)
        return step

    def _predict(
        self,
        record: Record,
        example: Example,
        x: dict[str, float],
        stepper: "Stepper",
        series: _Series,
    ) -> Step:
        """Predict an event, which waits from now on."""
        step, token = stepper.predict(record, example, x)
        if (present := series.present.value) is not None:
            step = self._with_present(step, present, series.present)
        key = str(series.n_records)
        if self.several:
            key = f"{key}@{series.index}"
        if example.id is not None:
            key = f"{key}:{example.id}"
        self._store.add(key, Pending.of(step, token, example.weight, series.trivial.now))
        self._wait(key, example.time, series)
        if len(self._store) > MOST:
            self._expire_oldest()
        return step

    def _with_present(self, step: Step, value: float, present: PresentValue) -> Step:
        """Return the step with the present value as prediction, and its intervals if any."""
        details = step.details
        if details.intervals and self._levels:
            found = (present.interval(p, self.horizon, step.time) for p in self._levels)
            details = details._replace(intervals=tuple(found))
        if details.quantiles:
            details = details._replace(quantiles=(value,) * len(details.quantiles))
        return step._replace(y_pred=value, details=details._replace(explanation=None))

    def _wait(self, key: str, time: float | None, series: _Series) -> None:
        if (due := self._due_of(key, time)) is not None:
            insort(series.due, due)
        elif self.horizon.steps is not None:
            series.waiting.append(key)

    def _due_of(self, key: str, time: float | None) -> tuple[float, int, str] | None:
        """Return the entry of `due` for an event at a time; None: it has none."""
        if self.horizon.seconds is None or time is None:
            return None
        return time + self.horizon.seconds, _parts(key).number, key

    def _series_of(self, key: str) -> _Series:
        return self._series[self._by_index[_parts(key).series]] if self.several else self._only

    def _expire_oldest(self) -> None:
        oldest = self._store.oldest()
        assert oldest is not None
        key, _ = oldest
        event, series = self._store.get(key), self._series_of(key)
        assert event is not None
        if (due := self._due_of(key, event.time)) is not None:
            del series.due[bisect_left(series.due, due)]
        else:
            series.waiting.popleft()
        self._expire(key, "count")

    def _expire(self, key: str, why: str) -> None:
        self._store.remove(key)
        self.n_expired[why] += 1

    def _errors(self) -> dict[str, float]:
        """Return quantiles of the series' errors."""
        found = sorted(each.relative_error for each in list(self._series.values()) if each.n_scored)
        n = len(found)
        return {f"{q:g}": found[max(0, ceil(q * n) - 1)] for q in _QUANTILES} if n else {}

    def worst_series(self) -> list[dict[str, Any]]:
        """Return the series with the largest errors, the worst first; none if there is only one."""
        scored = [(name, each) for name, each in list(self._series.items()) if each.n_scored]
        worst = nlargest(_WORST, scored, key=lambda pair: pair[1].relative_error)
        return [
            {"series": list(name), "error": each.relative_error, "labels": int(each.n_scored)}
            for name, each in worst
        ]

    def metrics(self) -> Sequence[MetricSpec]:
        of_series = MetricSpec(
            "iln_series_error_ratio",
            "gauge",
            "Quantiles, over the series, of the mean |error| of about the last 100 forecasts "
            "divided by the mean size of their labels.",
            self._errors,
            "quantile",
        )
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
            *((of_series,) if self.several and self._classes is None else ()),
        )

    def begin_counts(self) -> None:
        """Count from 0 again."""
        self.n_expired = dict.fromkeys(REASONS, 0)

    def state(self) -> StateDict:
        """Return all that waits, and the counts."""
        found = {"store": self._store.state(), "n_expired": dict(self.n_expired)}
        if not self.several:
            return found | self._only.state()
        return found | {
            "needs_present": self._needs_present,
            "n_series": self._n_series,
            "names": [list(name) for name in self._series],
            "indices": [each.index for each in self._series.values()],
            "scores": [[each.n_scored, each.error, each.size] for each in self._series.values()],
            "series": [each.state() for each in self._series.values()],
        }

    def restore(self, state: StateDict) -> None:
        """Replace all that waits by that of a `state()`."""
        self._store.restore(state["store"])
        self.n_expired |= state["n_expired"]
        if self.several:
            self._needs_present = state["needs_present"]
            self._series.clear()
            self._by_index.clear()
            of_each = (state[each] for each in ("names", "indices", "scores", "series"))
            for name, index, scores, kept in zip(*of_each, strict=True):
                self._n_series = index
                series = self._new(tuple(name))
                series.n_scored, series.error, series.size = scores
                series.restore(kept)
            self._n_series = state["n_series"]
        else:
            self._only.restore(state)
            self._needs_present = self._only.present.is_needed
            self._only.waiting.clear()
            self._only.due.clear()
        for key, event in self._store.items():
            self._wait(key, event.time, self._series_of(key))


class _Key(NamedTuple):
    """The number of a record in its series, the index of the series, and the event's id."""

    number: int
    series: int
    event_id: str | None


def _parts(key: str) -> _Key:
    where, has_id, event_id = key.partition(":")
    number, _, series = where.partition("@")
    return _Key(int(number), int(series or 0), event_id if has_id else None)
