"""Inputs made of an event's time, and of earlier values."""

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from itertools import chain
from math import cos, fsum, nan, pi, sin
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from iln_stream.state import StateDict

_PHASES: dict[str, Callable[[dt.datetime], float]] = {
    "hour": lambda t: (t.hour + t.minute / 60 + t.second / 3600) / 24,
    "weekday": lambda t: (t.weekday() + (t.hour + t.minute / 60) / 24) / 7,
    "day_of_year": lambda t: (t.timetuple().tm_yday - 1) / 365.25,
}
"""Position within a period, from 0 to 1."""

CALENDAR: dict[str, Callable[[dt.datetime], int]] = {
    "hour": lambda t: t.hour,
    "weekday": lambda t: t.weekday(),
}
"""Parts of a time that crosses can have, as whole numbers."""

SINCE_LAST = "since_last"

_YEAR, _SECONDS = "year", 31_557_600.0
"""The feature, and how long a year is."""

TIME_FEATURES = (*_PHASES, SINCE_LAST, _YEAR)
"""Names of the features."""


def names_of(feature: str) -> tuple[str, ...]:
    """Return the names of the inputs that a time feature makes."""
    return _circle(feature) if feature in _PHASES else (f"time.{feature}",)


def time_zone_of(name: str) -> dt.tzinfo:
    """Return a time zone by its IANA name.

    Raises
    ------
    ValueError
        When there is none.

    """
    if name == "UTC":
        return dt.UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, ZoneInfoNotFoundError) as error:
        raise ValueError(f"time_zone: {name!r} is no time zone, such as Europe/Berlin") from error


class TimeFeatures:
    """Makes inputs of times: sines and cosines of periods, the year, and seconds between events.

    Parameters
    ----------
    names
        Among `TIME_FEATURES`: `hour`, `weekday` and `day_of_year` (each a sine and a cosine),
        `year`, which grows through the year (2026.5), and `since_last`, the seconds since
        the last accepted event, at least 0.
    zone
        The time zone of hours, weekdays and days.

    Examples
    --------
    >>> from iln_stream.records.time_inputs import TimeFeatures
    >>> made = TimeFeatures(["hour", "since_last"])
    >>> made(6 * 3600.0)
    {'time.hour.sin': 1.0, 'time.hour.cos': 0.0}
    >>> made.accept(6 * 3600.0)
    >>> made(6 * 3600.0 + 5)["time.since_last"]
    5.0
    >>> TimeFeatures(["year"])(31_557_600 / 2)
    {'time.year': 1970.5}

    """

    def __init__(self, names: Iterable[str], zone: dt.tzinfo = dt.UTC) -> None:
        names = tuple(names)
        self._zone = zone
        self._phases = [(_circle(name), name) for name in names if name in _PHASES]
        self._since_last, self._year = SINCE_LAST in names, _YEAR in names
        self.last: float | None = None

    def __call__(self, time: float) -> dict[str, float]:
        """Return the inputs of an event at a time (POSIX seconds), by name."""
        made: dict[str, float] = {}
        if self._phases:
            moment = dt.datetime.fromtimestamp(time, self._zone)
            for (sine, cosine), name in self._phases:
                angle = 2 * pi * _PHASES[name](moment)
                made[sine] = round(sin(angle), 12)
                made[cosine] = round(cos(angle), 12)
        if self._year:
            made[f"time.{_YEAR}"] = round(1970.0 + time / _SECONDS, 9)
        if self._since_last and self.last is not None:
            made[f"time.{SINCE_LAST}"] = max(0.0, time - self.last)
        return made

    def accept(self, time: float) -> None:
        """Take a time as that of the last event."""
        self.last = time

    def fresh(self) -> "TimeFeatures":
        """Return what makes the same inputs, without an earlier event."""
        found = copy(self)
        found.last = None
        return found

    def state(self) -> StateDict:
        """Return the time of the last event."""
        return {"last": self.last}

    def restore(self, state: StateDict) -> None:
        self.last = state["last"]


def _circle(feature: str) -> tuple[str, str]:
    return f"time.{feature}.sin", f"time.{feature}.cos"


class Lags:
    """Makes inputs of the values of earlier records.

    `temp.lag_3` is the value of `temp` three records before; `temp.mean_24` is the mean of the last
    24 values, the present one included. A missing value has no lag and does not count in means; at
    the beginning a mean is that of the values so far.

    Parameters
    ----------
    lags, means
        Numbers of records by column.
    filled
        Whether the present value takes the place of a lag that is missing. Next to other series a
        missing one would count as 0, and a lag that all begin to have at once as far from usual.

    Examples
    --------
    >>> from iln_stream.records.time_inputs import Lags
    >>> made = Lags({"temp": [1, 2]}, {"temp": [2]})
    >>> for temp in (20.0, 22.0):
    ...     first = made({"temp": temp})
    ...     made.accept()
    >>> made({"temp": 23.0})
    {'temp.lag_1': 22.0, 'temp.lag_2': 20.0, 'temp.mean_2': 22.5}

    """

    def __init__(
        self,
        lags: Mapping[str, Sequence[int]],
        means: Mapping[str, Sequence[int]],
        *,
        filled: bool = False,
    ) -> None:
        self._filled = filled
        self._made: dict[str, list[tuple[str, int, bool]]] = {}
        self._depths: dict[str, int] = {}
        for name in dict.fromkeys((*lags, *means)):
            made = [(f"{name}.lag_{k}", k, False) for k in lags.get(name, ())]
            made += [(f"{name}.mean_{k}", k, True) for k in means.get(name, ())]
            self._depths[name] = max(k - is_mean for _, k, is_mean in made)
            self._made[name] = made
        self._before: dict[str, list[float]] = {name: [] for name in self._depths}
        self._now: dict[str, float] = {}

    def fresh(self) -> "Lags":
        """Return what makes the same inputs, without earlier values."""
        found = copy(self)
        found._before, found._now = {name: [] for name in self._depths}, {}
        return found

    @property
    def names(self) -> dict[str, str]:
        """The inputs that are made, and the setting that makes each."""
        made = chain.from_iterable(self._made.values())
        return {key: "rolling_means" if is_mean else "lags" for key, _, is_mean in made}

    def __call__(self, x: Mapping[str, Any]) -> dict[str, float]:
        """Return the inputs of an event with these present values, by name."""
        made: dict[str, float] = {}
        for name, wanted in self._made.items():
            before = self._before[name]
            n = len(before)
            self._now[name] = now = x.get(name, nan)
            for key, k, is_mean in wanted:
                if not is_mean:
                    value = before[n - k] if k <= n else nan
                    if self._filled and value != value:
                        value = now
                    if value == value:
                        made[key] = value
                elif (mean := _mean([*before[max(0, n - k + 1) :], now])) is not None:
                    made[key] = mean
        return made

    def accept(self) -> None:
        """Take the values of the last call as those of the last event."""
        for name, depth in self._depths.items():
            before = self._before[name]
            before.append(self._now.get(name, nan))
            if len(before) > 2 * depth + 16:
                del before[: len(before) - depth]

    def state(self) -> StateDict:
        """Return the earlier values; None: missing."""
        found = {}
        for name, depth in self._depths.items():
            before = self._before[name]
            latest = before[max(0, len(before) - depth) :]
            found[name] = [each if each == each else None for each in latest]
        return found

    def restore(self, state: StateDict) -> None:
        """Continue from a `state()`, also one of other columns."""
        for name in self._before.keys() & state.keys():
            self._before[name] = [nan if each is None else each for each in state[name]]


def _mean(values: Sequence[float]) -> float | None:
    """Return the mean of the values that are not missing; None: all are."""
    try:
        total = fsum(values)  # nan if one is missing
    except OverflowError:
        total = nan
    if total == total:
        return total / len(values)
    known = [each for each in values if each == each]
    return fsum(each / len(known) for each in known) if known else None


def numbers_of_records(given: Any) -> tuple[int, ...]:
    """Return the numbers in a list; of a single n, 1 to n.

    Raises
    ------
    ValueError
        When these are no positive integers.

    """
    numbers = range(1, given + 1) if type(given) is int else given
    if not isinstance(numbers, list | tuple | range) or not numbers:
        raise ValueError(f"expected a number of records, or a list, not {given!r}")
    for each in numbers:
        if type(each) is not int or each < 1:
            raise ValueError(f"a number of records is an integer from 1 on, not {each!r}")
    return tuple(dict.fromkeys(numbers))
