"""Guessing how the texts of records write numbers and dates."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, get_args

from iln_stream.records.amounts import amount
from iln_stream.records.inspected import MOSTLY
from iln_stream.records.time_spans import is_monotonic, read_as, year_first
from iln_stream.records.times import DateOrder
from iln_stream.records.values import NULLS, USUAL, Notation, is_number

_DATE = re.compile(r"(?:[^\W\d_]+\.?,?\s+)?(\d{1,2})([./-])\s?(\d{1,2})\2\s?(\d{4}|\d{2})\b.*")
_NO_THOUSANDS = re.compile(r",(\d{0,2}|\d{4,})\D*$|,\d+[eE]|(\b0|\d{4}|\.\d{3}),\d")
_THOUSANDS = re.compile(r"\D*[1-9]\d{0,2}([.,]\d{3})+\D*")
_WITH_COMMA = Notation(decimal=",")
_CODED = re.compile(r"[+-]?\d{4,},\d").fullmatch
_PADDED = re.compile(r"[+-]?0").match
"""A value and its code, `+0145,1`: then a comma is before no decimals in other fields, either."""


def guessed_notation(records: Iterable[Mapping[str, Any]]) -> Notation:
    """Return how the texts of flat records write numbers and dates.

    A decimal comma needs a field in which most texts are such numbers, and not all may be ones
    with a comma between thousands. The order of day and month needs a field of mostly dates in
    which one of them is above 12, or dots, which stand after the day.

    Examples
    --------
    >>> from iln_stream.records.guessed_notation import guessed_notation
    >>> guessed_notation([{"temp": "21,5", "day": "31.12.2026"}, {"temp": "3", "day": "1.1.2027"}])
    Notation(decimal=',', date_order='dmy')

    """
    texts: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.items():
            if isinstance(value, str) and value.strip() not in NULLS:
                texts.setdefault(name, []).append(value.strip())
    coded = (values for values in texts.values() if all(map(_CODED, values)))
    padded = any(map(_PADDED, chain(*coded)))
    decimals = [] if padded else [_decimal(values) for values in texts.values()]
    orders = {_order(values) for values in texts.values()} - {None}
    return Notation(
        "," if decimals.count(",") > decimals.count(".") else ".",
        (orders.pop() if len(orders) == 1 else None) or "ymd",
    )


def _decimal(values: Sequence[str]) -> Literal[".", ","] | None:
    """Return what stands before decimals, if only one of comma and dot can."""
    n_with_comma = sum(is_amount(value, _WITH_COMMA) for value in values)
    n_usual = sum(is_amount(value, USUAL) for value in values)
    enough = MOSTLY * len(values)
    decimals = any(map(_NO_THOUSANDS.search, values))
    if n_with_comma >= max(enough, n_usual) and (decimals or groups(values, ".") == "yes"):
        return ","
    return "." if n_usual >= enough and n_usual > n_with_comma else None


def groups(values: Sequence[str], mark: str) -> Literal["yes", "maybe", "no"]:
    """Return whether a mark stands between thousands: only before three digits, if it stands.

    >>> from iln_stream.records.guessed_notation import groups
    >>> groups(["1.204", "998"], "."), groups(["1.204", "2.500"], "."), groups(["1.2"], ".")
    ('yes', 'maybe', 'no')

    """
    marked = [value for value in values if mark in value]
    if not marked or not all(map(_THOUSANDS.fullmatch, marked)):
        return "no"
    small = [len(re.sub(r"\D", "", value)) < 4 for value in values if mark not in value]
    return "yes" if all(small) and (small or any(v.count(mark) > 1 for v in marked)) else "maybe"


def is_amount(text: str, notation: Notation) -> bool:
    """Return whether a text is a number, maybe in dress."""
    return is_number(text, notation) or amount(text, notation.decimal) is not None


def look_like_dates(values: Sequence[str]) -> bool:
    """Return whether most texts are dates with the year last: `01/02/2026`.

    >>> from iln_stream.records.guessed_notation import look_like_dates
    >>> look_like_dates(["01/02/2026", "02/02/2026 14:30"])
    True

    """
    found = [match for value in values if (match := _DATE.fullmatch(value.strip()))]
    if not found or len(found) < MOSTLY * len(values):
        return False
    short = [each for each in found if len(each[4]) == 2]  # 10.30.00 may be a time of day
    return all(
        1 <= int(e[1]) <= 31 and 1 <= int(e[3]) <= (12 if e[2] == "." else 31) for e in short
    )


def _order(values: Sequence[str]) -> DateOrder | None:
    if not look_like_dates(values) or year_first(values):
        return None
    dates = [found for value in values if (found := _DATE.fullmatch(value))]
    days = [f"{each[1]}/{each[3]}/{each[4]}" for each in dates]
    orders = get_args(DateOrder)[1:]
    read = {o: [read_as(day, "time", Notation(date_order=o)) for day in days] for o in orders}
    times = {o: [*map(float, found)] for o, found in read.items() if None not in found}  # type: ignore[arg-type]
    if len(times) < 2 or all(each[2] == "." for each in dates):
        # A spreadsheet takes days up to the 12th for months, and leaves other dates as texts.
        for order, own in times.items():
            (other,) = {*orders} - {order}
            mixed = [a if b is None else b for a, b in zip(own, read[other], strict=True)]
            return order if is_monotonic(own) or not is_monotonic(mixed) else None
        return None
    in_order = [each for each in times if len(dates) > 2 and is_monotonic(times[each])]
    if len(in_order) == 2 and len(dates) >= 4 * len(set(times["dmy"])):  # several a day
        in_order = [min(times, key=lambda each: max(times[each]) - min(times[each]))]
    if len(in_order) == 2 and len({each[4] for each in dates}) > 1:  # the first of each month
        firsts = {"dmy": {v[1] for v in dates}, "mdy": {v[3] for v in dates}}
        in_order = [each for each in in_order if all(int(day) == 1 for day in firsts[each])]
    return in_order[0] if len(in_order) == 1 else None
