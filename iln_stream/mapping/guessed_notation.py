"""Guessing how texts write numbers and dates."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from iln_stream.mapping.times import DateOrder
from iln_stream.mapping.values import NULLS, USUAL, Notation

_DATE = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2\d{4}\b.*")
_NO_THOUSANDS = re.compile(r",(\d{0,2}|\d{4,})$")
_WITH_COMMA = Notation(decimal=",")

MOSTLY = 0.8
"""Share of numbers or times from which a field is one of them; a few odd texts, as those of
subtotals, change nothing."""


def guessed_notation(records: Iterable[Mapping[str, Any]]) -> Notation:
    """Return how the texts of flat records write numbers and dates.

    A decimal comma needs a field in which most texts are such numbers, and not all may be ones
    with a comma between thousands. The order of day and month needs a field of mostly dates in
    which one of them is above 12, or dots, which stand after the day.

    Examples
    --------
    >>> from iln_stream.mapping.guessed_notation import guessed_notation
    >>> guessed_notation([{"temp": "21,5", "day": "31.12.2026"}, {"temp": "3", "day": "1.1.2027"}])
    Notation(decimal=',', date_order='dmy')

    """
    texts: dict[str, list[str]] = {}
    for record in records:
        for name, value in record.items():
            if isinstance(value, str) and value.strip() not in NULLS:
                texts.setdefault(name, []).append(value.strip())
    decimals = [_decimal(values) for values in texts.values()]
    orders = {_order(values) for values in texts.values()} - {None}
    return Notation(
        "," if decimals.count(",") > decimals.count(".") else ".",
        (orders.pop() if len(orders) == 1 else None) or "ymd",
    )


def _decimal(values: Sequence[str]) -> Literal[".", ","] | None:
    """Return what stands before decimals, if only one of comma and dot can."""
    n_with_comma = sum(_WITH_COMMA.number(value) is not None for value in values)
    n_usual = sum(USUAL.number(value) is not None for value in values)
    enough = MOSTLY * len(values)
    if n_with_comma >= max(enough, n_usual) and any(map(_NO_THOUSANDS.search, values)):
        return ","
    return "." if n_usual >= enough and n_usual > n_with_comma else None


def has_other_decimal_sign(text: str) -> bool:
    """Return whether a text that the notation does not read is a number in another one.

    >>> from iln_stream.mapping.guessed_notation import has_other_decimal_sign
    >>> has_other_decimal_sign("20,5"), has_other_decimal_sign("20.5"), has_other_decimal_sign("x")
    (True, True, False)

    """
    return USUAL.number(text) is not None or _WITH_COMMA.number(text) is not None


def look_like_dates(values: Sequence[str]) -> bool:
    """Return whether most texts are dates with the year last: `01/02/2026`.

    >>> from iln_stream.mapping.guessed_notation import look_like_dates
    >>> look_like_dates(["01/02/2026", "02/02/2026 14:30"])
    True

    """
    n = sum(_DATE.fullmatch(value.strip()) is not None for value in values)
    return n > 0 and n >= MOSTLY * len(values)


def _order(values: Sequence[str]) -> DateOrder | None:
    if not look_like_dates(values):
        return None
    dates = [found for value in values if (found := _DATE.fullmatch(value))]
    days_first = any(int(each[1]) > 12 for each in dates)
    months_first = any(int(each[3]) > 12 for each in dates)
    if days_first and months_first:
        return None
    if months_first:
        return "mdy"
    return "dmy" if days_first or all(each[2] == "." for each in dates) else None
