"""Guessing the mapping of records from the first of them."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from typing import Any, Literal, NamedTuple

from iln_stream.mapping.flatten import INDICATOR, flatten
from iln_stream.mapping.times import DateOrder, posix_seconds
from iln_stream.mapping.values import NULLS, USUAL, FieldType, Notation, is_boolean, is_number

Role = Literal["label", "input", "id", "time", "ignored"]

_LABELS = ("y", "target", "label", "class", "outcome", "price", "value", "sales", "demand")
_TIMES = ("timestamp", "time", "datetime", "date", "ts", "event_time", "created_at", "at", "when")
_CODES = re.compile(
    r"(^|_)(zip|zip_?code|plz|post_?code|postal_?code|code|id|sku)$|[a-z](Id|Code|Zip)$",
)
"""Names of whole numbers that are categories. A field with a new value in each record is an id."""

_MOST_DISTINCT = 10_000
_FEW = 20
"""Records from which a field with a new value each time is an id or free text."""

_OLDEST, _LATEST = 3.15e8, 4.1e9
"""POSIX seconds that are taken as times: the years 1980 to 2099."""


class Field(NamedTuple):
    """What the records show of a field.

    Parameters
    ----------
    name
        Its dotted path.
    kinds
        How many values are of each kind: `number`, `boolean`, `text`, `number as text`, `boolean
        as text`, `bytes`, `list`.
    n_missing
        Records in which it is absent, null, or a text that means a missing value.
    n_distinct
        Number of different values.
    low, high
        Smallest and largest number; for text the most and the least frequent value.
    role
        What it probably is.
    type
        What its values should be taken as.
    why
        Why it is ignored, or why its type is not what it looks like; empty otherwise.
    maybe_code
        Whether it has few different whole numbers, which may be counts, or codes of categories.

    """

    name: str
    kinds: Mapping[str, int]
    n_missing: int
    n_distinct: int
    low: Any
    high: Any
    role: Role
    type: FieldType
    why: str = ""
    maybe_code: bool = False


def inspect_fields(
    records: Iterable[Mapping[str, Any]], target: str | None = None, notation: Notation = USUAL
) -> list[Field]:
    """Return what records show of their fields, with a guess of each field's role and type.

    Parameters
    ----------
    records
        Fields of some records, in order; a thousand are plenty.
    target
        The field of the label, if it is known.
    notation
        How texts write numbers and dates.

    Examples
    --------
    >>> from iln_stream.mapping.inspection import inspect_fields
    >>> records = [{"key": f"k{i}", "size": str(i % 7), "price": i / 2} for i in range(100)]
    >>> [(each.name, each.role, each.type) for each in inspect_fields(records)]
    [('key', 'id', 'auto'), ('size', 'input', 'number'), ('price', 'label', 'auto')]

    """
    values: dict[str, list[Any]] = {}
    n = 0
    for record in records:
        for name, value in flatten(record).items():
            # An indicator is a boolean to people.
            values.setdefault(name, []).append(value is INDICATOR or value)
        n += 1
    found = [_field(name, seen, n, notation) for name, seen in values.items()]
    times = [each.name for each in found if _is_time(each, values, notation.date_order)]
    found = _with_one(found, "time", times)
    found = _with_one(found, "id", [each.name for each in found if _is_id(each, n)])
    return _with_one(found, "label", [target] if target else _possible_labels(found))


def proposed(fields: Sequence[Field]) -> dict[str, Any]:
    """Return the settings that learn records with these fields."""
    by_role = {each.role: each.name for each in fields}
    settings: dict[str, Any] = {}
    for setting, role in (("target", "label"), ("id_field", "id"), ("time_field", "time")):
        if role in by_role:
            settings[setting] = by_role[role]
    if ignored := [each.name for each in fields if each.role == "ignored"]:
        settings["ignore"] = ignored
    if "time" in by_role:
        settings["time_features"] = ["hour", "weekday"]
    if types := {each.name: each.type for each in fields if each.type != "auto"}:
        settings["types"] = types
    return settings


def possible_codes(fields: Sequence[Field]) -> list[str]:
    """Return the names of inputs with few different whole numbers, which may be codes."""
    return [each.name for each in fields if each.maybe_code and each.role == "input"]


def _field(name: str, seen: Sequence[Any], n: int, notation: Notation) -> Field:
    present = [value for value in seen if not _is_missing(value)]
    found = [_kind(value, notation) for value in present]
    kinds = Counter(found)
    distinct = Counter(str(value) for value in present[:_MOST_DISTINCT])
    numbers = [
        _as_number(value, notation)
        for value, kind in zip(present, found, strict=True)
        if kind in _NUMERIC
    ]
    finite = [number for number in numbers if number is not None]
    low, high = (min(finite), max(finite)) if finite else _extremes(distinct)
    role, kind, why = _guess(present, n - len(present), kinds, len(distinct))
    maybe_code = False
    if role == "input" and set(kinds) <= _NUMERIC and all(map(_is_whole, numbers)):
        if kind != "category" and _named_as_code(name) and len(distinct) > 1:
            kind, why = "category", "a code by its name"
        elif kind != "category":
            maybe_code = 2 < len(distinct) <= min(_FEW, len(present) / 10)
    return Field(
        name, kinds, n - len(present), len(distinct), low, high, role, kind, why, maybe_code
    )


def _is_whole(number: float | None) -> bool:
    return number is None or number.is_integer()


def _named_as_code(name: str) -> bool:
    last = name.rpartition(".")[2]
    return _CODES.search(last) is not None


def _guess(
    present: Sequence[Any], n_missing: int, kinds: Counter[str], n_distinct: int
) -> tuple[Role, FieldType, str]:
    n = len(present)
    if not n or kinds["list"]:
        return "ignored", "auto", "no values" if not n else "a list or an object"
    if kinds["bytes"]:
        return "ignored", "auto", "bytes"
    if n_distinct == 1 and n >= _FEW and not n_missing:
        return "ignored", "auto", "always the same"
    if kinds["number as text"] and set(kinds) <= _NUMERIC:
        if any(_has_leading_zero(value) for value in present if isinstance(value, str)):
            return "input", "category", "leading zeros"
        return "input", "number", "numbers as text"
    if kinds["number as text"]:
        return "input", "category", "numbers and other text"
    if set(kinds) == {"boolean as text"}:
        return "input", "boolean", "booleans as text"
    if kinds["text"] == n >= _FEW and n_distinct > n / 2:
        return "ignored", "auto", "a new text in most records"
    return "input", "auto", ""


def _is_time(each: Field, values: Mapping[str, Sequence[Any]], order: DateOrder) -> bool:
    """Whether the values are times that mostly grow, or times with a usual name."""
    if not {"boolean", "list", "bytes"}.isdisjoint(each.kinds):
        return False
    times = []
    for value in values[each.name]:
        if _is_missing(value):
            continue
        try:
            times.append(posix_seconds(value, order))
        except (ValueError, TypeError, OverflowError):
            return False
    if not times or not all(_OLDEST <= time <= _LATEST for time in times):
        return False
    ordered = sum(a <= b for a, b in pairwise(times)) >= 0.9 * (len(times) - 1)
    named = each.name.rpartition(".")[2].lower() in _TIMES
    return (named or (ordered and each.n_distinct > 1)) and each.role != "label"


def _is_id(each: Field, n: int) -> bool:
    if each.role == "time" or each.n_distinct < n or n < 2:
        return False
    last = each.name.rpartition(".")[2].lower()
    whole = all(isinstance(value, int | str) for value in (each.low, each.high)) or (
        float(each.low).is_integer() and float(each.high).is_integer()
    )
    return whole and (last in ("id", "uuid", "key") or last.endswith(("_id", "uuid", "_key", "Id")))


def _possible_labels(found: Sequence[Field]) -> list[str]:
    free = [each for each in found if each.role == "input"]
    named = [
        each.name
        for usual in _LABELS
        for each in free
        if each.name.rpartition(".")[2].lower() == usual
    ]
    numbers = [each.name for each in free if set(each.kinds) <= {"number", "number as text"}]
    return named[:1] or numbers[-1:] or [each.name for each in free][-1:]


def _with_one(found: Sequence[Field], role: Role, names: Sequence[str]) -> list[Field]:
    """Return the fields with this role for the first name."""
    return [
        each._replace(role=role, type="auto", why="") if names and each.name == names[0] else each
        for each in found
    ]


_NUMERIC = {"number", "number as text"}


def _kind(value: Any, notation: Notation) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        if is_number(value, notation):
            return "number as text"
        return "boolean as text" if is_boolean(value) else "text"
    return "bytes" if isinstance(value, bytes) else "list"


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip() in NULLS
    return value is None or value != value


def _as_number(value: Any, notation: Notation) -> float | None:
    number: Any = notation.number(value) if isinstance(value, str) else value
    try:
        number = float(number)
    except OverflowError:  # an integer beyond a double
        return None
    return number if isfinite(number) else None


def _has_leading_zero(text: str) -> bool:
    digits = text.strip().lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()


def _extremes(distinct: Counter[str]) -> tuple[Any, Any]:
    ordered = distinct.most_common()
    return (ordered[0][0], ordered[-1][0]) if ordered else (None, None)
