"""Where errors are: by hour, weekday and the values of fields that have few."""

import datetime as dt
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from math import isfinite, sqrt
from threading import Lock
from time import monotonic
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from iln_stream.loop.steps import LatestSteps
from iln_stream.records.time_inputs import TIME_FEATURES, names_of

SIZE = 1000
"""Labelled steps that are divided."""

MOST_INPUTS = 64
"""Inputs of an event that are looked at, the first."""

MOST_VALUES = 24
"""A field with more values in these steps is not divided."""

MOST_NUMBER = 1000
"""Larger whole numbers are amounts or times."""

LEAST_STEPS = 20
"""Of a slice."""

STANDARD_ERRORS = 3.0
"""By which a slice's mean error must exceed the mean of all: fields and values are many."""

MOST_SLICES = 8

_SECONDS = 5.0

_HOURS_FROM, _WEEKDAYS_FROM = 2 * 86_400.0, 14 * 86_400.0
"""Seconds that the steps must cover: within a day, an hour is no different from a moment."""


_OF_TIMES = frozenset(name for feature in TIME_FEATURES for name in names_of(feature))
"""Inputs that say again what hours and weekdays do."""


class _Row(NamedTuple):
    error: float
    time: float | None
    values: dict[str, Any]


class ErrorSlices:
    """Finds among the latest labelled steps those slices whose errors stand out.

    One thread may add steps while others read. The error is |y_pred - y|, of classes the log loss.
    A run that resumes begins anew: to save the steps would hold up each snapshot.

    Examples
    --------
    >>> from iln_stream.loop.slices import ErrorSlices
    >>> slices = ErrorSlices()
    >>> for n in range(200):
    ...     slices.add({"sky": "sun" if n % 4 else "rain"}, 1.0 if n % 4 else 2.0, time=None)
    >>> slices.data()
    {'n': 200, 'error': 1.25, 'worst': [{'field': 'sky', 'value': 'rain', 'n': 50, 'error': 2.0}]}

    """

    def __init__(self) -> None:
        self.zone = "UTC"  # time zone of hours and weekdays
        self._steps = LatestSteps(SIZE)
        self._n_read = 0
        self._rows: deque[_Row] = deque(maxlen=SIZE)
        self._reading = Lock()
        self._found: dict[str, Any] | None = None
        self._due = 0.0
        self.on_steps = self._steps.add
        """Take labelled steps; they are read when somebody asks."""

    def add(self, values: dict[str, Any], error: float, time: float | None) -> None:
        """Take a step as it is read: the values of its fields, its error and its time."""
        self._rows.append(_Row(error, time, values))

    def data(self) -> dict[str, Any] | None:
        """Return the slices that stand out, the largest mean error first, of the last seconds.

        None: no field has few values, and no hours can be told apart.
        """
        if monotonic() >= self._due:
            self._found = self._worst(self._read())
            self._due = monotonic() + _SECONDS
        return self._found

    def _worst(self, rows: Sequence[_Row]) -> dict[str, Any] | None:
        sums: dict[tuple[str, Any], list[float]] = {}
        names = _divided(rows)
        for row, hours in zip(rows, self._hours(rows), strict=True):
            values = [each for each in row.values.items() if each[0] in names]
            for key in (*values, *hours):
                total = sums.setdefault(key, [0, 0.0])
                total[0] += 1
                total[1] += row.error
        if not sums:
            return None
        n_all = len(rows)
        mean = sum(row.error for row in rows) / n_all
        spread = sqrt(sum((row.error - mean) ** 2 for row in rows) / n_all)
        found = [
            {"field": name, "value": value, "n": n, "error": total / n}
            for (name, value), (n, total) in sums.items()
            if LEAST_STEPS <= n < n_all
            and total / n - mean > STANDARD_ERRORS * spread * sqrt(1 / n - 1 / n_all)
        ]
        found.sort(key=lambda each: -each["error"])
        return {"n": n_all, "error": mean, "worst": found[:MOST_SLICES]}

    def _read(self) -> list[_Row]:
        with self._reading:
            for number, step in self._steps.after(self._n_read):
                self._n_read = number
                error = error_of(step.y_pred, step.y, step.loss)
                if isfinite(error):
                    self.add(_values(step.x), error, step.time)
            return list(self._rows)

    def _hours(self, rows: Sequence[_Row]) -> Iterator[list[tuple[str, Any]]]:
        times = [row.time for row in rows if row.time is not None]
        span = max(times) - min(times) if times else 0.0
        zone = ZoneInfo(self.zone)
        for row in rows:
            if row.time is None or span < _HOURS_FROM:
                yield []
                continue
            at = dt.datetime.fromtimestamp(row.time, zone)
            hour = ("hour", f"{at:%H}:00 {self.zone}")
            yield [hour, ("weekday", f"{at:%A}")] if span >= _WEEKDAYS_FROM else [hour]


class DailyRhythm:
    """The errors of each hour of the last eight days, by the times of events.

    Examples
    --------
    >>> from iln_stream.loop.slices import DailyRhythm
    >>> rhythm = DailyRhythm()
    >>> rhythm.add((3600.0 * hour, 7.0 if hour % 24 == 11 else 1.0) for hour in range(36))
    >>> rhythm.usual(1), rhythm.usual(12)
    (5.25, 1.125)

    """

    def __init__(self) -> None:
        self.hours: dict[int, tuple[int, float]] = {}  # since 1970: number and sum of errors

    def add(self, errors: Iterable[tuple[float, float]]) -> None:
        """Add times and errors; one thread at a time may, while others read."""
        hour, n, total = None, 0, 0.0
        for time, error in errors:
            if (now := int(time // 3600)) != hour:
                self._keep(hour, n, total)
                hour, (n, total) = now, self.hours.get(now, (0, 0.0))
            n += 1
            total += error
        self._keep(hour, n, total)

    def _keep(self, hour: int | None, n: int, total: float) -> None:
        if hour is not None:
            self.hours[hour] = n, total
        if len(self.hours) > 8 * 24:
            del self.hours[min(self.hours)]

    def usual(self, n: int) -> float:
        """Return the mean error of the days before, at the hours of the latest `n` errors.

        In units of the mean of all hours; 1 if the days before are not known.
        """
        hours, left, found = dict(self.hours), n, 0.0
        mean = _mean(hours.values()) or 1.0
        for hour in sorted(hours, reverse=True):
            of_hour = min(left, hours[hour][0])
            earlier = [hours[h] for h in range(hour - 24, hour - 169, -24) if h in hours]
            found += of_hour * (_mean(earlier) / mean if earlier else 1.0)
            if not (left := left - of_hour):
                break
        found = found / (n - left) if left < n else 1.0
        return found if isfinite(found) else 1.0


def _mean(sums: Iterable[tuple[int, float]]) -> float:
    n, total = map(sum, zip((0, 0.0), *sums, strict=True))
    return total / n if n else 0.0


def error_of(y_pred: Any, y: Any, loss: float) -> float:
    """Return |y_pred - y|, of classes the log loss."""
    if type(y_pred) is not float and isinstance(y_pred, Mapping):
        return loss
    return abs(y_pred - y)  # type: ignore[no-any-return]


def _values(x: Mapping[Any, float]) -> dict[str, Any]:
    """Return the values that may be few: categories, and whole numbers."""
    found: dict[str, Any] = {}
    for name, value in islice(x.items(), MOST_INPUTS):
        field, is_category, category = str(name).partition("=")
        if is_category:
            found[field] = category
        elif name in _OF_TIMES:
            continue
        elif abs(value) < MOST_NUMBER and float(value).is_integer():
            found[field] = int(value)
    return found


def _divided(rows: Iterable[_Row]) -> set[str]:
    """Return the fields with two values or a few more."""
    found: dict[str, set[Any]] = {}
    for row in rows:
        for name, value in row.values.items():
            seen = found.setdefault(name, set())
            if len(seen) <= MOST_VALUES:
                seen.add(value)
    return {name for name, seen in found.items() if 1 < len(seen) <= MOST_VALUES}
