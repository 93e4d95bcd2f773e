"""Reading times as people write them.

The forms are a fixed list, tried one after the other: `dateutil` and its like guess, read `10.2`
as a day of this month, and swap day and month from one record to the next.
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Literal

from iln_stream.records.durations import DAY
from iln_stream.records.words import WORDS

_YEAR_1, _YEAR_10000 = -62_135_596_800.0, 253_402_300_800.0
"""Their first moments in POSIX seconds."""

_TO = re.compile(r"\s+[-\u2013]\s+|(?<=[\dZ])/(?=\d{4}-)")
"""Between the two ends of a period."""

_NUMBER_OF_TIME = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")

_LARGEST = 1e21
"""Nanoseconds; beyond the year 9999."""

_UNITS = ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6), (_LARGEST, 1e9))
"""Numbers below the first are in units of one second divided by the second: s, ms, us, ns."""

COMPACT = {1.5e7: "%Y%m%d", 1.5e11: "%Y%m%d%H%M", 1.5e13: "%Y%m%d%H%M%S"}
"""Forms of numbers from the first on, up to the year 2249, which would be times of the 1970s."""

DateOrder = Literal["ymd", "dmy", "mdy"]
"""Order of year, month and day in dates that are not ISO 8601."""

_EXPECTED = "expected a time, such as 2026-01-31T12:00:00Z or POSIX seconds"

_YEAR = r"(?P<y>\d{4})"
_OTHER_YEAR = r"(?P<y>\d{4}|\d{2})"
_NAME = r"(?P<name>[^\W\d_]{3,})\.?"
_DAY = r"(?P<d>\d{1,2})(?:st|nd|rd|th|er|\.)?"
_WEEK = r"(?:[CK]?W|wk|week|woche|sem(?:aine|ana)?|S(?=\d\d)|uge|uke)\.?[- ]?(?P<w>\d{1,2})"
_WEEKDAY = r"(?:[^\W\d_]+\.?,?\s+)?"
_DAY_OF_WEEK = r"(?:(?P<weekday>[^\W\d_]{2,})\.?,?\s+)?"
_CLOCK = (
    r"(?:(?P<early>오전|上午|午前)|(?P<late>오후|下午|午後))?\s*"
    r"(?P<h>\d{1,2})(?:[:.h时時]?(?P<min>\d{2})分?(?:[:.]?(?P<s>\d{2})秒?(?:[.,:](?P<f>\d{1,9}))?)?)?"
    r"(?:\s*(?P<half>[ap])\.?\s?m\.?|\s?(?:Uhr|h))?"
)
_ZONES = {
    name: hours
    for hours, names in (
        (0, "WET"), (1, "CET MEZ WEST"), (2, "CEST MESZ EET"), (3, "EEST MSK"),
        (-4, "EDT"), (-5, "EST CDT"), (-6, "CST MDT"), (-7, "MST PDT"), (-8, "PST"),
    )
    for name in names.split()
}  # fmt: skip
"""Hours from UTC, of Europe, and of RFC 822."""
_ZONE = (
    r"\s*(?P<zone>Z|(?:UTC|GMT)?[+-]\d{2}:?\d{2}|(?:UTC|GMT)(?:[+-]\d\d?)?"
    rf"|{'|'.join(_ZONES)})?"
    r"(?:\[[\w/+-]+\]|\s*\([\w ]+\)|(?:(?<=[+-]\d{4})|(?<=[+-]\d\d:\d\d))\s[A-Z]{3,4}"
    r"|\s+[-\u2013]\s+\d\d?[:.]\d\d(?:[:.]\d\d)?)?"
)
"""After it may stand its name, or the end of a period of the day."""
_BEFORE_CLOCK = r"(?:T|_|,?\s+(?:(?:um|at|à|@)\s+|-\s+(?=\d\d?[:h]))?|:|-)\s*"
_DATES = (
    rf"{_DAY_OF_WEEK}{_YEAR}[-/. 年]\s?(?P<m>\d{{1,2}})[-/. 月]\s?(?P<d>\d{{1,2}})[.日]?"
    r"(?:\s?\([^\W\d_]+\))?",
    rf"{_YEAR}(?P<m>\d{{2}})(?P<d>\d{{2}})",
    rf"{_WEEKDAY}{_DAY}(?:[-/ .]|de )*{_NAME}(?:[-/ .,]|del? )*{_OTHER_YEAR}",
    rf"{_WEEKDAY}{_NAME}[-/ .]*{_DAY},?[-/\s]+{_YEAR}",
    rf"{_YEAR}[-/ .]*{_NAME}(?:[-/ .]*{_DAY})?",
    rf"{_NAME}(?:[-/ .,]*{_YEAR}|-(?P<yy>\d{{2}}))",
    rf"{_YEAR}(?:[-/ ]|M)(?P<m>\d{{1,2}})",
    rf"(?P<m>\d{{1,2}})[-/]{_YEAR}",
    rf"{_YEAR}[-: ]?[QT](?P<q>[1-4])",
    rf"(?:[QT](?=[1-4])|(?=[1-4]\.?\s?[QT]))(?P<q>[1-4])(?:\.?\s?[QT][a-z]*)?[- /]?{_YEAR}",
    rf"{_YEAR}[-/ ]?{_WEEK}",
    rf"{_WEEK}[-/ .,]+{_YEAR}",
)
_ORDERED = {
    "dmy": rf"{_DAY_OF_WEEK}(?P<d>\d{{1,2}})(?P<sep>[-/.]\s?)(?P<m>\d{{1,2}})(?P=sep){_OTHER_YEAR}",
    "mdy": rf"{_DAY_OF_WEEK}(?P<m>\d{{1,2}})(?P<sep>[-/.]\s?)(?P<d>\d{{1,2}})(?P=sep){_OTHER_YEAR}",
}


@lru_cache
def _forms(order: DateOrder) -> tuple[re.Pattern[str], ...]:
    dates = _DATES if order == "ymd" else (_ORDERED[order], *_DATES)
    texts = [rf"{date}(?:{_BEFORE_CLOCK}{_CLOCK}{_ZONE})?" for date in dates]
    texts.append(rf"{_WEEKDAY}{_NAME}\s+{_DAY}\s+{_CLOCK}{_ZONE}\s+{_YEAR}")  # of `date`
    return tuple(re.compile(text, re.IGNORECASE) for text in texts)


def posix_seconds(value: float | str, order: DateOrder = "ymd") -> float:
    """Return the time that a value states, in POSIX seconds.

    Parameters
    ----------
    value
        A number of seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by
        size (below 1e11, 1e14, 1e17), also as text; or a date or time of one of the forms in the
        table of docs/fields.md. Without an offset it is in UTC; 24:00 is the end of the day.
    order
        `dmy` also takes `31.12.2026` and `31/12/26 14:30`, `mdy` `12/31/2026`.

    Raises
    ------
    ValueError
        When it is none of these, or outside of the years 1 to 9999.

    Examples
    --------
    >>> from iln_stream.records.times import posix_seconds
    >>> posix_seconds("1970-01-02"), posix_seconds("1970-01-01 01:00:00+01:00")
    (86400.0, 0.0)
    >>> posix_seconds(1_769_860_800_000) == posix_seconds("1769860800")
    True
    >>> posix_seconds("2. Januar 1970, 12:00 AM"), posix_seconds("1970-01")
    (86400.0, 0.0)

    """
    return _checked(
        _from_text(value.strip(), order) if isinstance(value, str) else _from_number(value)
    )


def _from_text(text: str, order: DateOrder) -> float:
    is_date = text.isdigit() and len(text) in (8, 14)  # 20260131
    if _NUMBER_OF_TIME.fullmatch(text) and not is_date:
        return _from_number(float(text))
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError:
        moment = _in_other_forms(text, order)
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp()


def _from_number(value: float) -> float:
    if 2.25e7 <= value < 1e11:  # as usual: seconds, and no date
        return float(value)
    size = abs(value)
    if not size < _LARGEST:  # also NaN, and integers beyond a double
        raise ValueError(_EXPECTED)
    for low, form in COMPACT.items():
        if low <= value < 1.5 * low and value == int(value):
            with suppress(ValueError):
                return dt.datetime.strptime(f"{int(value)}+0000", f"{form}%z").timestamp()
    return value / next(unit for below, unit in _UNITS if size < below)


def _in_other_forms(text: str, order: DateOrder) -> dt.datetime:
    for form in _forms(order):
        if (found := form.fullmatch(text)) is not None:
            try:
                return _moment(found.groupdict())
            except ValueError:
                continue
    ends = _TO.split(text)
    if len(ends) == 2 and not any(map(_NUMBER_OF_TIME.fullmatch, ends)):
        start, end = (_from_text(each, order) for each in ends)
        if start <= end:
            return dt.datetime.fromtimestamp(start, dt.UTC)
    if len(text) == 14 and text.isdigit():
        return dt.datetime.strptime(text, "%Y%m%d%H%M%S")
    raise ValueError(_EXPECTED)


def _moment(parts: dict[str, str | None]) -> dt.datetime:
    digits = parts.get("y") or parts.get("yy") or ""
    year = int(digits)
    if len(digits) == 2:
        year += 1900 if year >= 69 else 2000  # as POSIX says
    if (name := parts.get("weekday")) and not _begin_with(name, "weekdays"):
        raise ValueError(_EXPECTED)  # a word for a total, for instance
    if name := parts.get("name"):
        month = _month(name)
    elif quarter := parts.get("q"):
        month = 3 * int(quarter) - 2
    else:
        month = int(parts.get("m") or 1)
    hour = int(parts.get("h") or 0)
    late = parts.get("late") or (parts.get("half") or "").lower() == "p"
    if late or parts.get("early") or parts.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError(_EXPECTED)
        hour = hour % 12 + 12 * bool(late)
    minute, second = int(parts.get("min") or 0), int(parts.get("s") or 0)
    micro = int((parts.get("f") or "0").ljust(6, "0")[:6])
    is_end = hour == 24 and not (minute or second or micro)
    day = int(parts.get("d") or 1)
    if week := parts.get("w"):  # begins on its Monday
        year, month, day = dt.date.fromisocalendar(year, int(week), 1).timetuple()[:3]
    moment = dt.datetime(year, month, day, 0 if is_end else hour, minute, second, micro)
    zone = (parts.get("zone") or "").upper().removeprefix("UTC").removeprefix("GMT")
    if zone in _ZONES or len(zone) in (2, 3):
        zone = f"{int(_ZONES.get(zone, zone)):+03}00"
    if zone not in ("", "Z"):
        moment = moment.replace(tzinfo=dt.datetime.strptime(zone, "%z").tzinfo)
    return moment + dt.timedelta(days=is_end)


def _month(name: str) -> int:
    """Return the number of the month with this name, or whose name begins so."""
    if not (found := _begin_with(name, "months")):
        raise ValueError(_EXPECTED)
    return found[0] % 12 + 1


@lru_cache
def _begin_with(name: str, words: str) -> Sequence[int]:
    """Return the places of the words that a name is, or begins."""
    wanted = _plain(name)
    return [at for at, each in enumerate(WORDS[words]) if _plain(each).startswith(wanted)]


def _plain(name: str) -> str:
    """Return a name in lower case and without accents; März may be Maerz or Marz."""
    text = unicodedata.normalize("NFKD", name.lower().replace("ae", "a"))
    return "".join(each for each in text if not unicodedata.combining(each))


_FILLER = re.compile(
    r"[T ](?:0?0:00(?::00(?:\.0+)?)?|12:00(?::00)? AM)(?= )|(?<= \d)\.0$|(?<= \d\d)\.0$"
    r"|(?<= )(?:(?:1899|19[07]0)-\d\d-\d\d|\d\d?([/.])\d\d?\1(?:1899|19[07]0))[T ]"
)
"""What programs add: midnight to a date, a first day to a time of day, decimals to an hour."""


def joined(texts: Iterable[str]) -> str:
    """Return the text of a time whose date and time of day are fields of their own.

    >>> from iln_stream.records.times import joined
    >>> joined(["2026-01-31 00:00:00", "1899-12-30 13:00:00"])
    '2026-01-31 13:00:00'

    """
    return _FILLER.sub("", " ".join(texts))


_SINCE = re.compile(r"(days|hours|minutes|seconds|ticks) since (\S+)")
_NAME_OF_MONTH = re.compile(r"[^\W\d_]{3,}\.?")


def _numbered(word: re.Match[str]) -> str:
    """Return a month's name as two digits; any other word as it is."""
    try:
        return f"{_month(word[0].rstrip('.')):02}"
    except ValueError:
        return word[0]


_SECONDS = {"days": DAY, "hours": 3_600.0, "minutes": 60.0, "seconds": 1.0, "ticks": 1e-7}


@lru_cache
def time_in(form: str) -> Callable[[float | str], float]:
    """Return a function that reads times of one form, in POSIX seconds.

    Parameters
    ----------
    form
        As in Python's `strptime`, `%Y%m%d%H`, also with `%q` for a quarter, `%G-%V` for a week and
        `%b` for the name of a month; or a number of `days`, `hours`, `minutes`, `seconds` or
        `ticks` of 100 ns since a date, such as `days since 1899-12-30` as in Excel, `seconds since
        1980-01-06` as of GPS; or `years`, such as 2026.25, to the day.

    Raises
    ------
    ValueError
        When it is neither; the function raises it when a value has another form.

    Examples
    --------
    >>> from iln_stream.records.times import time_in
    >>> time_in("%Y%m%d%H")(1970010201), time_in("days since 1899-12-30")("25569.5")
    (90000.0, 43200.0)

    """
    if form == "years":
        return lambda value: _checked(round((float(value) - 1970) * 365.25) * DAY)
    if since := _SINCE.fullmatch(form):
        unit, start = _SECONDS[since[1]], posix_seconds(since[2])
        return lambda value: _checked(start + unit * float(value))
    if "%" not in form:
        raise ValueError(
            "a form of times is one of strptime, such as %d.%m.%y, `days since 1899-12-30` or years"
        )
    is_week = "%V" in form and "%u" not in form
    python = form.replace("%q", "%m") + " %u" * is_week

    def read(value: float | str) -> float:
        text = str(value).strip().removesuffix(".0")
        if form == "%Y.%m" and len(text) == len("2026.1"):
            text += "0"  # as a number, 2026.10 has lost its last digit, and 2026.01 has not
        text += " 1" * is_week
        try:
            try:
                moment = dt.datetime.strptime(text, python)
            except ValueError:  # a month's name in another language than English
                numbered = _NAME_OF_MONTH.sub(_numbered, text)
                moment = dt.datetime.strptime(
                    numbered, python.replace("%b.", "%b").replace("%b", "%m")
                )
            if "%q" in form:
                moment = moment.replace(month=3 * moment.month - 2)
        except ValueError:
            raise ValueError(f"expected a time of the form {form}") from None
        return _checked((moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).timestamp())

    return read


def _checked(seconds: float) -> float:
    if not _YEAR_1 <= seconds < _YEAR_10000:
        raise ValueError(f"{_EXPECTED}, of the years 1 to 9999")
    return seconds
