"""Inputs made of an event's time."""

import datetime as dt
from collections.abc import Callable, Iterable
from math import cos, pi, sin

from iln_stream.state import StateDict

Phase = Callable[[dt.datetime], float]


def _hour(t: dt.datetime) -> float:
    return (t.hour + t.minute / 60 + t.second / 3600) / 24


def _weekday(t: dt.datetime) -> float:
    return (t.weekday() + (t.hour + t.minute / 60) / 24) / 7


def _day_of_year(t: dt.datetime) -> float:
    return (t.timetuple().tm_yday - 1) / 365.25


_PHASES: dict[str, Phase] = {"hour": _hour, "weekday": _weekday, "day_of_year": _day_of_year}
"""Position within a period, from 0 to 1."""

SINCE_LAST = "since_last"

TIME_FEATURES = (*_PHASES, SINCE_LAST)
"""Names of the features."""


def names_of(feature: str) -> tuple[str, ...]:
    """Return the names of the inputs that a time feature makes."""
    return (f"time.{feature}",) if feature == SINCE_LAST else _circle(feature)


class TimeFeatures:
    """Makes inputs of times: sines and cosines of periods, and the time since the last event.

    Parameters
    ----------
    names
        Among `TIME_FEATURES`: `hour`, `weekday` and `day_of_year` (in UTC, each a sine and a
        cosine), and `since_last`, the seconds since the last accepted event, at least 0.

    Examples
    --------
    >>> from iln_stream.mapping import TimeFeatures
    >>> made = TimeFeatures(["hour", "since_last"])
    >>> made(6 * 3600.0)
    {'time.hour.sin': 1.0, 'time.hour.cos': 0.0}
    >>> made.accept(6 * 3600.0)
    >>> made(6 * 3600.0 + 5)["time.since_last"]
    5.0

    """

    def __init__(self, names: Iterable[str]) -> None:
        names = tuple(names)
        for name in names:
            if name not in TIME_FEATURES:
                raise ValueError(f"{name!r} is not among {', '.join(TIME_FEATURES)}")
        self._phases = [(_circle(name), _PHASES[name]) for name in names if name in _PHASES]
        self._since_last = SINCE_LAST in names
        self._last: float | None = None

    def __call__(self, time: float) -> dict[str, float]:
        """Return the inputs of an event at a time (POSIX seconds), by name."""
        made: dict[str, float] = {}
        if self._phases:
            moment = dt.datetime.fromtimestamp(time, dt.UTC)
            for (sine, cosine), phase in self._phases:
                angle = 2 * pi * phase(moment)
                made[sine] = round(sin(angle), 12)
                made[cosine] = round(cos(angle), 12)
        if self._since_last and self._last is not None:
            made[f"time.{SINCE_LAST}"] = max(0.0, time - self._last)
        return made

    def accept(self, time: float) -> None:
        """Take a time as that of the last event."""
        self._last = time

    def state(self) -> StateDict:
        """Return the time of the last event."""
        return {"last": self._last}

    def restore(self, state: StateDict) -> None:
        """Continue from a `state()`."""
        self._last = state["last"]


def _circle(feature: str) -> tuple[str, str]:
    return f"time.{feature}.sin", f"time.{feature}.cos"
