"""Times in the forms that records have."""

import datetime as dt
import re
from typing import Literal

_YEAR_1, _YEAR_10000 = -62_135_596_800.0, 253_402_300_800.0
"""Their first moments in POSIX seconds."""

_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")

_LARGEST = 1e21
"""Nanoseconds; beyond the year 9999."""

_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (_LARGEST, 1e9))
"""Numbers below the first are in units of one second divided by the second: s, ms, us, ns."""

_FORMATS = ("%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y%m%d%H%M%S")
"""Forms beside ISO 8601. Day and month in another order are ambiguous, so they are refused."""


DateOrder = Literal["ymd", "dmy", "mdy"]
"""Order of year, month and day in dates that are not ISO 8601."""

_ORDERED = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[T ,]+(.+))?")


def posix_seconds(value: float | str, order: DateOrder = "ymd") -> float:
    """Return the time that a value states, in POSIX seconds.

    Parameters
    ----------
    value
        A number of seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by
        size (below 1e11, 1e14, 1e17), also as text; or a date or time in ISO 8601, such as
        `2026-01-31`, `2026-01-31T12:00:00Z`, `2026-01-31 12:00:00.25+02:00`, also with slashes
        instead of hyphens; or text of 8 or 14 digits, `20260131`, `20260131120000`. A time without
        an offset is in UTC.
    order
        `dmy` also takes `31.12.2026` and `31/12/2026 14:30`, `mdy` `12/31/2026`.

    Raises
    ------
    ValueError
        When it is none of these, or outside of the years 1 to 9999.

    Examples
    --------
    >>> from iln_stream.mapping.times import posix_seconds
    >>> posix_seconds("1970-01-02"), posix_seconds("1970-01-01 01:00:00+01:00")
    (86400.0, 0.0)
    >>> posix_seconds(1_769_860_800_000) == posix_seconds("1769860800")
    True

    """
    if isinstance(value, str):
        seconds = _from_text(value.strip() if order == "ymd" else _as_iso(value.strip(), order))
    else:
        seconds = _from_number(value)
    if not _YEAR_1 <= seconds < _YEAR_10000:
        raise ValueError(f"{_EXPECTED}, of the years 1 to 9999")
    return seconds


def _as_iso(text: str, order: DateOrder) -> str:
    """Return a date with the year at its end in ISO 8601; any other text as it is."""
    if (found := _ORDERED.fullmatch(text)) is None:
        return text
    first, _, second, year, clock = found.groups()
    day, month = (first, second) if order == "dmy" else (second, first)
    hour = f"T{clock.zfill(5) if clock.find(':') == 1 else clock}" if clock else ""
    return f"{year}-{month:0>2}-{day:0>2}{hour}"


def _from_text(text: str) -> float:
    is_date = text.isdigit() and len(text) in (8, 14)  # 20260131
    if is_date or not _NUMBER.fullmatch(text):
        return _moment(text).timestamp()
    return _from_number(float(text))


def _from_number(value: float) -> float:
    size = abs(value)
    if not size < _LARGEST:  # also NaN, and integers beyond a double
        raise ValueError(_EXPECTED)
    return value / next(unit for below, unit in _UNITS if size < below)


def _moment(text: str) -> dt.datetime:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        moment = _in_other_forms(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)


def _in_other_forms(text: str) -> dt.datetime:
    for form in _FORMATS:
        try:
            return dt.datetime.strptime(text, form)  # UTC unless it has an offset
        except ValueError:
            continue
    raise ValueError(_EXPECTED)


_EXPECTED = "expected a time, such as 2026-01-31T12:00:00Z or POSIX seconds"
