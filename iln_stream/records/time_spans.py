"""What the times of records show: their form, their order, and which seasons they can have."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import fmean, median, pvariance
from typing import Any

from iln_stream.records.decoding import MalformedError
from iln_stream.records.durations import DAY
from iln_stream.records.times import COMPACT
from iln_stream.records.values import USUAL, FieldType, Notation, as_input

_FORMS = {
    4: ("%y%m",), 6: ("%Y%m", "%y%m%d", "%G%V"), 7: ("%m.%Y", "%Y.%m"),
    8: ("%Y%m%d", "%d%m%Y", "%m%d%Y"), 10: ("%Y%m%d%H", "%y%m%d%H%M"),
    12: ("%Y%m%d%H%M", "%d%m%Y%H%M"), 14: ("%Y%m%d%H%M%S", "%d%m%Y%H%M%S"),
}  # fmt: skip
"""Of numbers, by how many characters they have."""

_DISTINCT = {"%y%m": 12, "%y%m%d%H%M": 60}
"""Values that have to be more: a few numbers, or POSIX seconds of a minute, may look so as well."""

_ORDERS = (("%y", "%m", "%d"), ("%d", "%m", "%y"), ("%m", "%d", "%y"))

_OCTOBER = re.compile(r"\d{4}\.1")
"""2026.10, as a number is written."""

_YEAR_FIRST = re.compile(r"\d\d([-/.])\d\d\1\d\d(?:\s(\d\d:\d\d)?(:\d\d)?)?")

_OLDEST, _LATEST = -1.5e10, 7.3e9
"""POSIX seconds of the years 1494 and 2201."""
ORDERED = 0.9
"""Share of times in order from which they are those of a stream."""

_SINCE = {
    "days since 1899-12-30": (36_500, 80_000), "days since 1970-01-01": (7_300, 36_500),
    "ticks since 0001-01-01": (6.2e17, 6.5e17), "ticks since 1601-01-01": (1.2e17, 1.4e17),
}  # fmt: skip
"""Numbers that are taken as times since a date: of the years 1999 to 2119, 1989 to 2069, 1965 to
2060, 1981 to 2044. As nanoseconds since 1970 all ticks would be of 1990 or 1974."""


def read_as(value: Any, kind: FieldType, notation: Notation = USUAL) -> float | None:
    """Return the number, or POSIX seconds, as which a run reads a value of a type; None: none."""
    try:
        return float(as_input("", value, kind, notation))
    except MalformedError:
        return None


def all_read_as(values: Iterable[Any], kind: FieldType, notation: Notation = USUAL) -> list[float]:
    """Return the numbers, or times, among values."""
    return [found for value in values if (found := read_as(value, kind, notation)) is not None]


_BY_NAME = {
    "gps": (6e8, 2e9, "seconds since 1980-01-06"), "mjd": (3e4, 8e4, "days since 1858-11-17"),
}  # fmt: skip
"""Numbers that are times by a word of the name: of 1999 to 2043, and of 1940 to 2077."""

_YEAR_FIRST_PART = re.compile(r"(?P<year>\d{4})(?P<mark>[-/.: ]?)(?P<part>\d{1,3})")
_YEAR_LAST_PART = re.compile(r"(?P<part>\d{1,2})(?P<mark>[-/.: ])(?P<year>\d{4})")


def time_form(texts: Sequence[str], is_text: bool, is_named: bool, unit: str) -> str | None:
    """Return the form of texts that are times, or numbers of dates; empty: they are read as times.

    If `is_text`, most are no numbers; if `is_named`, the field has a name of times. `unit` is what
    the name says: `quarter`, `week`, `day`, `gps`, `mjd`, or nothing.

    Examples
    --------
    >>> from iln_stream.records.time_spans import time_form
    >>> time_form(["202052", "202053", "202101"], False, True, "week")
    '%G%V'
    >>> time_form(["1990.3", "1990.4", "1991.1", "1991.2"], False, True, "")
    '%Y.%q'
    >>> time_form(["2/1990", "3/1990", "4/1990"], True, True, "")  # months: None
    >>> time_form(["45717", "45718"], False, True, "")
    'days since 1899-12-30'
    >>> time_form([f"26010{1 + i // 24}{i % 24:02}00" for i in range(72)], False, True, "")
    '%y%m%d%H%M'
    >>> time_form([f"Dez {year}" for year in range(10, 25)], True, False, "")
    '%b %y'

    """
    form = (year_first(texts) or _month_form(texts)) if is_text else None
    if form is None and (is_text or is_named):
        form = _part_form(texts, unit, is_named)
    if form is None and texts and all(text.replace(".", "", 1).isdigit() for text in texts):
        low, high, form = _BY_NAME.get(unit, (0.0, 0.0, ""))
        is_known = all(low < float(text) < high for text in texts)
        form = form if is_known else _numeric_form(texts, is_named)
    return form


def _part_form(texts: Sequence[str], unit: str, is_named: bool) -> str | None:
    """Return the form of years with a quarter, a week or a day of the year.

    Weeks and days need a name of times.
    """
    for pattern, order in ((_YEAR_FIRST_PART, "{2}{1}{0}"), (_YEAR_LAST_PART, "{0}{1}{2}")):
        found = [match for text in texts if (match := pattern.fullmatch(text))]
        years, marks = {each["year"] for each in found}, {each["mark"] for each in found}
        if len(found) < len(texts) or len(marks) != 1:
            continue
        if not are_years([*map(int, years)]) or (not unit and len(years) == len(set(texts))):
            return None
        parts = {each["part"] for each in found}
        last = max(map(int, parts))
        if last <= 4 and (unit == "quarter" or (parts == {*"1234"} and len(years) > 1)):
            form = order.format("%q", *marks, "%Y")
        elif last <= 53 and is_named and (unit == "week" or (last > 12 and marks != {""})):
            form = order.format("%V", *marks, "%G")
        elif last <= 366 and is_named and {*map(len, parts)} == {3}:
            form = order.format("%j", *marks, "%Y")
        else:
            return None
        times = _times_in(form, texts)
        return form if times and is_monotonic(times) else None
    return None


def _month_form(texts: Sequence[str]) -> str | None:
    """Return the form of months with two digits of the year, in order."""
    found = _MONTH.fullmatch(texts[0]) if texts else None
    form = f"%b{found[1]}%y" if found and len(set(texts)) > 12 else ""
    times = _times_in(form, texts) if form else []
    return form if times and is_monotonic(times) else None


def _times_in(form: str, texts: Sequence[str]) -> list[float]:
    """Return the times of texts of a form; none if one has another."""
    times = all_read_as(texts, f"time {form}")
    return times if len(times) == len(texts) else []


def _numeric_form(texts: Sequence[str], is_named: bool) -> str | None:
    """Return the form of numbers that are dates, or days; empty: as they are."""
    texts = [text.strip().removesuffix(".0") for text in texts]
    numbers = [float(text) for text in texts]
    sizes = {len(text) for text in texts if not _OCTOBER.fullmatch(text)}
    size = sizes.pop() if len(sizes) == 1 else 0
    for form in _FORMS.get(size, ()):
        times = _times_in(form, texts)
        enough = _DISTINCT.get(form, 0)
        if times and not has_odd_years(times) and len(set(texts)) > enough:
            is_usual, grows = form.startswith("%Y"), is_monotonic(times)
            sure = is_usual and (size > 8 or (size == 8 and (is_named or grows)))
            if sure or (is_named and grows):
                return "" if form in COMPACT.values() else form
    grows = is_monotonic(numbers)
    regular = len({b - a for a, b in pairwise(numbers)}) <= 2
    if is_named and grows and (regular or len(set(numbers)) > len(numbers) / 2):
        for form, (low, high) in _SINCE.items():
            if all(low <= number < high for number in numbers):
                return form
        step = round(12 * step_of(numbers))
        if are_years((numbers[0], numbers[-1]), whole=False) and step in (1, 3):
            return "years"
    return None


def year_first(texts: Sequence[str]) -> str | None:
    """Return the form of dates whose year is first and has two digits; None: they are others.

    They come in order, and in no other order of day, month and year, or span more in it.

    >>> from iln_stream.records.time_spans import year_first
    >>> year_first(["25-12-30", "25-12-31", "26-01-01"]), year_first(["01-02-26", "02-02-26"])
    ('%y-%m-%d', None)

    """
    found = _YEAR_FIRST.fullmatch(texts[0]) if texts else None
    if found is None:
        return None
    clock = (" %H:%M" if found[2] else "") + (":%S" if found[3] else "")
    forms = ["{1}{0}{2}{0}{3}{4}".format(found[1], *order, clock) for order in _ORDERS]
    times = {form: _times_in(form, texts) for form in forms}
    spans = {form: max(ts) - min(ts) for form, ts in times.items() if ts and is_monotonic(ts)}
    own = spans.pop(forms[0], 0.0)
    return forms[0] if own and all(span > own for span in spans.values()) else None


_MONTH = re.compile(r"[^\W\d_]{3,}\.?([-/' ]{1,2})\d\d")


def is_monotonic(numbers: Sequence[float]) -> bool:
    """Return whether numbers only grow, or only fall."""
    return list(numbers) in (sorted(numbers), sorted(numbers, reverse=True))


def are_years(numbers: Sequence[float], *, whole: bool = True) -> bool:
    """Return whether all numbers are years of our time."""
    return all(1_500 <= each < 2_200 and (each == int(each) or not whole) for each in numbers)


def has_odd_years(times: Sequence[float]) -> bool:
    """Return whether times are of years that are rather those of another calendar."""
    return not all(_OLDEST <= time < _LATEST for time in times)


def ordered_share(times: Sequence[float]) -> float:
    """Return the share of times that are not before the one before."""
    return sum(a <= b for a, b in pairwise(times)) / max(1, len(times) - 1)


def has_weeks(times: Iterable[float], values: Iterable[float | None]) -> bool:
    """Return whether the values of days depend on the weekday, beside the week around them.

    Where they do not, it says so of 12 % of series of 30 days, and of less than 9 % of longer ones;
    where weekdays differ by half of the noise, of 60 % with 60 days, and of 96 % with 200. Less
    than four weeks are not tested: true.

    >>> from iln_stream.records.time_spans import has_weeks
    >>> days = [86_400.0 * i for i in range(70)]
    >>> has_weeks(days, [i % 7 + i % 3 for i in range(70)]), has_weeks(days, [i % 3 for i in days])
    (True, False)

    """
    found: dict[int, list[float]] = {}
    for time, value in zip(times, values, strict=True):
        if value is not None:
            found.setdefault(int(time // DAY), []).append(value)
    days = {day: fmean(each) for day, each in found.items()}
    if len(days) < _FEWEST_DAYS:
        return True
    groups: dict[int, list[float]] = {}
    for day in range(min(days) + 3, max(days) - 2):
        if day in days:
            week = [days[each] for each in range(day - 3, day + 4) if each in days]
            groups.setdefault(day % 7, []).append(days[day] - fmean(week))
    n = sum(map(len, groups.values()))
    between = sum(len(each) * fmean(each) ** 2 for each in groups.values())
    within = sum(pvariance(each) * len(each) for each in groups.values())
    return between * (n - len(groups)) > _F * within * max(1, len(groups) - 1)


_FEWEST_DAYS, _F = 28, 2.5
"""Days of a test, and the ratio of variances between and within weekdays from which it says so."""


def counts_up(numbers: Sequence[float]) -> bool:
    """Whether numbers are those of a meter: they rise, and hardly ever begin anew."""
    steps = [b - a for a, b in pairwise(numbers)]
    return sum(step > 0 for step in steps) > len(steps) / 2 and ordered_share(numbers) >= 0.99


def step_of(times: Sequence[float]) -> float:
    """Return the median of the differences between different times; 0: all are the same."""
    ordered = sorted(set(times))
    return median(b - a for a, b in pairwise(ordered)) if len(ordered) > 1 else 0.0


def features_of(times: Sequence[float]) -> tuple[str, ...]:
    """Return the time features that times can have.

    No hour if all times of day are the same; no weekday if a step is a week or longer; the day of
    the year if times span most of one; then also the year if they come in no order, as a learner
    that meets them in order follows it.

    Examples
    --------
    >>> from iln_stream.records.time_spans import features_of
    >>> features_of([3_600.0 * i for i in range(100)])
    ('hour', 'weekday')
    >>> features_of([86_400.0 * i for i in range(400)])
    ('weekday', 'day_of_year')
    >>> features_of([86_400.0 * (199 * i % 400) for i in range(400)])
    ('weekday', 'day_of_year', 'year')

    """
    if not times:
        return ()
    step, span = step_of(times), max(times) - min(times)
    has_hours = len({time % DAY for time in times}) > 1
    is_long, mixed = span >= 330 * DAY, 0.1 <= ordered_share(times) < ORDERED
    found = {
        "hour": has_hours,
        "weekday": step < 6 * DAY,
        "day_of_year": is_long and step < 330 * DAY,
        "year": is_long and mixed,
    }
    return tuple(name for name, has in found.items() if has)
