"""Sentinels: numbers, times and texts that people write for a missing value."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from iln_stream.records.guessed_notation import is_amount
from iln_stream.records.inspected import FEW, MOSTLY, Field, kind_of
from iln_stream.records.time_spans import all_read_as, read_as
from iln_stream.records.values import FieldType, Notation, as_text

_AGAIN = 3
"""Times that a number comes from which it may stand for a missing value."""


def without_sentinel(field: Field, numbers: Sequence[float]) -> Field:
    """Find a number that people write for a missing value, apart from all others.

    Nines that are apart by more than others are from each other, and negative ones by a quarter,
    need not repeat. Negative nines among others, and -1 before others, are far more frequent.
    """
    counted = Counter(numbers)
    ordered = sorted(counted)
    if len(ordered) < FEW / 4:
        return field
    for end, others in ((ordered[0], ordered[1:]), (ordered[-1], ordered[:-1])):
        gap = min(abs(end - others[0]), abs(end - others[-1]))
        text = _written(end)
        n_nines = _n_nines(text)
        is_code = n_nines > 3 or text in _LIMITS or (end < 0 and n_nines > 2)
        least = 1 if is_code and end < 0 else _AGAIN - is_code
        if counted[end] < least or end == 1.0:
            continue
        span = others[-1] - others[0]
        looks_so = n_nines > 1 or end == 0 or text in _LIMITS or (end < 0 and end.is_integer())
        if looks_so and gap > (span / 4 if is_code and end < 0 else span):
            return field._replace(sentinel=text, low=others[0], high=others[-1])
        if counted[end] >= _AGAIN and gap > max(b - a for a, b in pairwise(others)):
            field = field._replace(apart=text)
    (most, n), (_, n_next) = counted.most_common(2)
    is_code = most < 0 and _n_nines(_written(most)) > 2
    is_code = is_code or (most == ordered[0] == -1.0 and ordered[1] >= 0)
    often = n >= _AGAIN * n_next and n >= _AGAIN and len(ordered) >= FEW
    return field._replace(sentinel=_written(most)) if is_code and often else field


_LIMITS = {"32767", "-32768", "65535", "2147483647", "-2147483648", "1e+20", "-1e+20", "1e+30"}
"""What instruments and programs write that have no value."""


def _written(number: float) -> str:
    return as_text(number) if abs(number) < 1e15 else repr(number)


def _n_nines(text: str) -> int:
    digits = text.lstrip("-").replace(".", "")
    return len(digits) if {*digits} == {"9"} else 0


_YEARS = 3e8
"""Ten years, in seconds."""


def mark_of_times(
    field: Field | None, present: Sequence[Any], kind: FieldType, notation: Notation
) -> str | None:
    """Return a time that comes again and again, many years from others: 1900-01-01."""
    found = field and without_sentinel(field, all_read_as(present, kind, notation))
    if not (found and found.sentinel):
        return None
    end = float(found.sentinel)
    marks = (as_text(value) for value in present if read_as(value, kind, notation) == end)
    return next(marks) if min(abs(end - found.low), abs(end - found.high)) > _YEARS else None


def marks_of_missing(columns: Iterable[Sequence[Any]], notation: Notation) -> set[str]:
    """Return texts that mean no value: the only ones of several fields of numbers, or often of one.

    None is a value of another field.
    """
    found: Counter[str] = Counter()
    values: set[str] = set()
    for present in columns:
        texts = [str(value).strip() for value in present if kind_of(value, notation) == "text"]
        if len(set(texts)) == 1 and len(texts) < len(present):
            often = _AGAIN <= len(texts) <= (1 - MOSTLY) * len(present)
            found[texts[0]] += 1 + (often and not any(map(str.isdigit, texts[0])))
        else:
            values.update(texts)
    finite = {text for text in found if not text.lower().lstrip("+-").startswith("inf")} - values
    return {text for text in finite if found[text] > 1 and not is_amount(text, notation)}
