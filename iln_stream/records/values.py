"""What the value of a field is: a number, a time, a category, a class."""

import datetime as dt
import re
from collections.abc import Mapping
from decimal import Decimal
from math import isfinite
from typing import Any, Literal, NamedTuple, get_args
from uuid import UUID

from iln_stream.records.decoding import MalformedError

_AS_THEY_ARE = frozenset((str, int, float, bool, type(None), bytes))


def plain(value: Any) -> Any:
    """Return a value, and all that it contains, as numbers, texts, lists and dictionaries.

    Dates and times become POSIX seconds (in UTC if they have no offset), times of day and
    durations seconds, decimals numbers, and UUIDs texts. Bytes stay bytes.

    Examples
    --------
    >>> from datetime import date
    >>> from iln_stream.records.values import plain
    >>> plain({"day": date(1970, 1, 2), "price": Decimal("2.50"), "tags": ("new",)})
    {'day': 86400.0, 'price': 2.5, 'tags': ['new']}

    """
    if type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Decimal):
        return _number(value)
    if isinstance(value, dt.datetime):
        return (value if value.tzinfo else value.replace(tzinfo=dt.UTC)).timestamp()
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC).timestamp()
    if isinstance(value, dt.time):
        return value.hour * 3600.0 + value.minute * 60 + value.second + value.microsecond / 1e6
    if isinstance(value, dt.timedelta):
        return value.total_seconds()
    return str(value) if isinstance(value, UUID) else value


def _number(value: Decimal) -> float:
    """Return a decimal as an integer, which may be an id, or as the nearest double."""
    exponent = value.as_tuple().exponent
    return int(value) if isinstance(exponent, int) and exponent >= 0 else float(value)


_YEAR_1, _YEAR_10000 = -62_135_596_800.0, 253_402_300_800.0
"""Their first moments in POSIX seconds."""

_NUMBER_OF_TIME = re.compile(r"[+-]?\d+(\.\d+)?")

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
    >>> from iln_stream.records.values import posix_seconds
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
    if is_date or not _NUMBER_OF_TIME.fullmatch(text):
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


FieldType = Literal["auto", "number", "category", "boolean", "time"]
"""`auto` takes text that is a number as a number, `true` and `false` as booleans, and other text as
a category."""

FIELD_TYPES: tuple[FieldType, ...] = get_args(FieldType)

NULLS = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "none", "?", "-")
"""Texts that mean a missing value, by default."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)?(,\d*)?([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+")
_OTHER = {".": _COMMA, ",": _NUMBER}
"""Numbers that another decimal separator makes, by the separator of the settings."""

_NOT_FINITE = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)
_BOOLEANS = {
    **dict.fromkeys(("true", "True", "TRUE"), 1.0),
    **dict.fromkeys(("false", "False", "FALSE"), 0.0),
}


class Notation(NamedTuple):
    """How texts write numbers and dates.

    Parameters
    ----------
    decimal
        `.` or `,`: what stands before the decimals. With `,` dots may separate thousands.
    date_order
        Order of year, month and day in dates that are not ISO 8601.

    """

    decimal: str = "."
    date_order: DateOrder = "ymd"

    def number(self, text: str) -> str | None:
        """Return a number as Python writes it; None if the text is none."""
        text = text.strip()
        if self.decimal == ",":
            if _WITH_COMMA.fullmatch(text) is None:
                return None
            text = text.replace(".", "").replace(",", ".")
        return text if _NUMBER.fullmatch(text) else None


USUAL = Notation()


def is_number(text: str, notation: Notation = USUAL) -> bool:
    """Return whether a text is a decimal number, apart from white space around it."""
    return notation.number(text) is not None


def is_boolean(text: str) -> bool:
    """Return whether a text is `true` or `false`, in the usual spellings."""
    return text.strip() in _BOOLEANS


def as_input(name: str, value: Any, kind: FieldType, notation: Notation = USUAL) -> float | str:
    """Return a value that is not missing as a number, or as a category's text.

    Parameters
    ----------
    name
        The field, for error messages.
    value
        A number, a boolean or a text.
    kind
        Type of the field.
    notation
        How texts write numbers and dates.

    Raises
    ------
    MalformedError
        When the value is not of this type, or not finite.

    Examples
    --------
    >>> from iln_stream.records.values import as_input
    >>> as_input("t", "21.5", "auto"), as_input("zip", 8001, "category")
    (21.5, '8001')

    """
    if isinstance(value, list | dict):
        raise MalformedError(
            f"{name}: a long list or an empty object is no input; ignore the field"
        )
    if kind == "category":
        return as_text(value)
    if isinstance(value, bytes):
        raise MalformedError(
            f"{name}: bytes are no input; ignore the field, or give it the type category (types) "
            "to take different bytes as different categories"
        )
    if kind == "time":
        return _time(name, value, notation)
    if isinstance(value, str):
        text = value.strip()
        if text in _BOOLEANS and kind != "number":
            return _BOOLEANS[text]
        found = notation.number(text)
        if found is None:
            if _OTHER[notation.decimal].fullmatch(text):  # it would silently be a category
                raise MalformedError(_other_decimal(name, value, notation))
            if kind == "auto" and _NOT_FINITE.fullmatch(text) is None:
                return value
            raise MalformedError(_wrong(name, kind, value))
        value = found
    try:
        number = float(value)
    except (OverflowError, TypeError, ValueError):  # an integer beyond a double, or no number
        raise MalformedError(_wrong(name, kind, value)) from None
    if not isfinite(number) or (kind == "boolean" and number not in (0.0, 1.0)):
        raise MalformedError(_wrong(name, kind, value))
    return number


def as_text(value: Any) -> str:
    """Return a value as text: a category, or an id."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return value.hex()
    return str(value)


def _time(name: str, value: Any, notation: Notation) -> float:
    if isinstance(value, bool):
        raise MalformedError(_wrong(name, "time", value))
    try:
        return posix_seconds(value, notation.date_order)
    except (ValueError, OverflowError) as error:
        advice = _ORDER if isinstance(value, str) and _YEAR_LAST.match(value.strip()) else ""
        raise MalformedError(f"{name}: {error}, got {_shown(value)}{advice}") from None


_YEAR_LAST = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{4}")
_ORDER = "; set date_order to dmy (day first) or mdy (month first)"


def _other_decimal(name: str, value: Any, notation: Notation) -> str:
    comma = notation.decimal == "."
    mark, setting = ("comma", ",") if comma else ("point", ".")
    more = ". Leave out commas between thousands" if comma else ""
    return (
        f"{name}: {_shown(value)} looks like a number with a decimal {mark}: if all numbers "
        f'are written so, set decimal = "{setting}"; if only some are, rewrite them at the sender '
        f"or in a decoder; if it is no number, give the field the type category (types){more}"
    )


def _wrong(name: str, kind: FieldType, value: Any) -> str:
    expected = "true or false" if kind == "boolean" else "a finite number"
    return (
        f"{name}: expected {expected}, got {_shown(value)}; correct it at the sender, give the "
        "field another type (types), or list the text among null_values"
    )


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
