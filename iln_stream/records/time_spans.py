"""What the times of records show: their form, their order, and which seasons they can have."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any

from iln_stream.records.times import DateOrder, posix_seconds, time_in

_DAY = 86_400.0
_FORMS = {4: "%Y", 6: "%Y%m", 8: "%Y%m%d", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}
"""Of digits alone, by their number."""

_YEARS = re.compile(r"(1[5-9]|20|21)\d\d")
_EXCEL, _DAYS = (36_500, 80_000), (7_300, 36_500)
"""Numbers of days that are taken as times: since 1899-12-30, of the years 1999 to 2119; since 1970,
of the years 1989 to 2069."""


class Seen:
    """Reads a value as a time of a type; None: it is none."""

    def __init__(self, kind: str, order: DateOrder) -> None:
        self._read: Callable[[Any], float] = (
            (lambda value: posix_seconds(value, order))
            if kind == "time"
            else time_in(kind.removeprefix("time "))
        )

    def __call__(self, value: Any) -> float | None:
        """Return POSIX seconds."""
        try:
            return None if isinstance(value, bool) else self._read(value)
        except (ValueError, TypeError, OverflowError):
            return None


def numeric_form(texts: Sequence[str], is_named: bool, *, is_json: bool) -> str | None:
    """Return the form of numbers that are dates, or days; empty: as they are; None: no dates.

    Parameters
    ----------
    texts
        Numbers as text.
    is_named
        Whether the field has a name of times.
    is_json
        Whether they came as numbers: as text, 8 and 14 digits are dates without a form.

    Examples
    --------
    >>> from iln_stream.records.time_spans import numeric_form
    >>> numeric_form(["2025030100", "2025030101"], is_named=False, is_json=False)
    '%Y%m%d%H'
    >>> numeric_form(["45717", "45718"], is_named=True, is_json=True)
    'days since 1899-12-30'

    """
    texts = [text.strip().removesuffix(".0") for text in texts]
    numbers = [float(text) for text in texts]
    grows = numbers == sorted(numbers) or numbers == sorted(numbers, reverse=True)
    sizes = {len(text) for text in texts}
    if len(sizes) == 1 and all(_YEARS.match(text) for text in texts):
        form = _FORMS.get(size := sizes.pop())
        if form is not None and all(map(Seen(f"time {form}", "ymd"), texts)):
            if size in (8, 14) and not is_json:
                return ""
            sure = size > 8 or (size == 8 and (is_named or grows)) or (is_named and grows)
            return form if sure and (size > 4 or len({*texts}) == len(texts)) else None
    regular = len({b - a for a, b in pairwise(numbers)}) <= 2
    if is_named and grows and (regular or len(set(numbers)) > len(numbers) / 2):
        for (low, high), since in ((_EXCEL, "1899-12-30"), (_DAYS, "1970-01-01")):
            if all(low <= number < high for number in numbers):
                return f"days since {since}"
    return None


def ordered_share(times: Sequence[float]) -> float:
    """Return the share of times that are not before the one before."""
    return sum(a <= b for a, b in pairwise(times)) / max(1, len(times) - 1)


def step_of(times: Sequence[float]) -> float:
    """Return the median of the differences between different times; 0: all are the same."""
    ordered = sorted(set(times))
    return median(b - a for a, b in pairwise(ordered)) if len(ordered) > 1 else 0.0


def features_of(times: Sequence[float]) -> tuple[str, ...]:
    """Return the time features that times can have.

    No hour if all times of day are the same; no weekday if a step is a week or longer; the day of
    the year if times span most of one.

    Examples
    --------
    >>> from iln_stream.records.time_spans import features_of
    >>> features_of([3_600.0 * i for i in range(100)])
    ('hour', 'weekday')
    >>> features_of([86_400.0 * i for i in range(400)])
    ('weekday', 'day_of_year')

    """
    if not times:
        return ()
    step, span = step_of(times), max(times) - min(times)
    has_hours = len({time % _DAY for time in times}) > 1
    has_year = span >= 330 * _DAY and step < 330 * _DAY
    found = {"hour": has_hours, "weekday": step < 6 * _DAY, "day_of_year": has_year}
    return tuple(name for name, has in found.items() if has)
