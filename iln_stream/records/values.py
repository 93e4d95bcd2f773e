"""What the value of a field is: a number, a time, a category, a class."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import chain, islice, pairwise
from math import isfinite
from typing import Any, NamedTuple
from uuid import UUID

from iln_stream.errors import did_you_mean
from iln_stream.records.amounts import amount
from iln_stream.records.decoding import MalformedError, shown
from iln_stream.records.durations import seconds_of
from iln_stream.records.times import DateOrder, posix_seconds, time_in

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
    if type(value) in _AS_THEY_ARE or (type(value) is dict and _is_plain(value)):
        return value
    found = (convert(value) for kind, convert in _PLAIN_OF if isinstance(value, kind))
    return next(found, value)


def _is_plain(fields: dict[Any, Any]) -> bool:
    """Whether all names are texts, and no value has to be converted, as in most rows."""
    return set(map(type, fields)) == {str} and set(map(type, fields.values())) <= _AS_THEY_ARE


def _number(value: Decimal) -> float:
    """Return a decimal as an integer, which may be an id, or as the nearest double."""
    exponent = value.as_tuple().exponent
    return int(value) if isinstance(exponent, int) and exponent >= 0 else float(value)


_PLAIN_OF: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (Mapping, lambda value: {str(name): plain(inner) for name, inner in value.items()}),
    ((list, tuple), lambda value: [*map(plain, value)]),
    (Decimal, _number),
    (dt.datetime, lambda v: (v if v.tzinfo else v.replace(tzinfo=dt.UTC)).timestamp()),
    (dt.date, lambda v: dt.datetime(v.year, v.month, v.day, tzinfo=dt.UTC).timestamp()),
    (dt.time, lambda v: v.hour * 3600.0 + v.minute * 60 + v.second + v.microsecond / 1e6),
    (dt.timedelta, dt.timedelta.total_seconds),
    (UUID, str),
)

FieldType = str
"""`number`, `category`, `boolean`, `time` or `auto`, which takes text that is a number as a number,
`true` and `false` as booleans, and other text as a category; `amount` or `amount in UNIT`; or
`time FORM` (see `time_in`); or `time since FIELD`, the seconds from one time to another; or
`duration`, in seconds; or `text`, whose words and pairs of words are categories."""

FIELD_TYPES = ("auto", "number", "category", "boolean", "time", "amount", "duration", "text")
_AMOUNT, _TIME = "amount in ", "time "
_PLAIN = frozenset(("auto", "number", "boolean"))
_TEXTS = frozenset(("category", "text"))

SINCE = "time since "
"""Of a time whose input is how much later it is than another field, in seconds."""


def is_dressed(kind: FieldType) -> bool:
    """Return whether a type is of numbers in dress."""
    return kind == "duration" or kind.startswith("amount")


def dress_of(text: str, decimal: str) -> FieldType | None:
    """Return the type that reads a number in dress; None: it is none.

    >>> from iln_stream.records.values import dress_of
    >>> dress_of("$191.31", "."), dress_of("1:40:17", "."), dress_of("clear", ".")
    ('amount in $', 'duration', None)

    """
    if (found := amount(text, decimal)) is not None:
        return f"{_AMOUNT}{found.unit}" if found.unit else "amount"
    return None if seconds_of(text) is None else "duration"


def check_type(name: str, kind: FieldType) -> None:
    """Raise ValueError if a field can't be of a type; the message names the field."""
    kind = str(kind)
    if kind in FIELD_TYPES or kind.startswith((_AMOUNT, SINCE)):
        return
    if kind.startswith(_TIME):
        try:
            time_in(kind.removeprefix(_TIME))
        except ValueError as error:
            raise ValueError(f"types: {name} = {kind!r}: {error}") from None
        return
    raise ValueError(
        f"types: {name} = {kind!r} is not among {', '.join(FIELD_TYPES)}, amount in UNIT, time FORM"
        f"{did_you_mean(kind, FIELD_TYPES)}"
    )


NULLS_OF_0_2 = ("", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "none", "?", "-")
"""Those of earlier releases, as which snapshots know the default."""

NULLS = (
    *NULLS_OF_0_2,
    *("#N/A", "#NA", "<NA>", "N.A.", "n.a.", "NAN", "NaT", "Null", "(null)", "\\N", "--", "---"),
    *("#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#N/V", "#NV", "#WERT!", ".", "..", "..."),
    *("\N{EN DASH}", "\N{EM DASH}", "k.A.", "k. A.", "n.v.", "nil", "undefined"),
    *(":", "n/d", "N/D", "n.d.", "s/d", "S/D", "b.d."),
)
"""Texts that mean a missing value, by default."""


def is_missing(value: Any, nulls: Collection[str]) -> bool:
    """Return whether a value is null, NaN, or a text that means a missing value."""
    if isinstance(value, str):
        return value.strip() in nulls
    return value is None or value != value


_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA = re.compile(r"[+-]?([1-9]\d{0,2}(\.\d{3})+|\d+)?(,\d*)?([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d*),\d+")
_OTHER = {".": _COMMA, ",": _NUMBER}
"""Numbers that another decimal separator makes, by the separator of the settings."""

_NOT_FINITE = re.compile(r"[+-]?(inf|infinity|nan)", re.IGNORECASE)
_BOOLEANS = {
    **dict.fromkeys(("true", "True", "TRUE"), 1.0),
    **dict.fromkeys(("false", "False", "FALSE"), 0.0),
}


def null_numbers(texts: Iterable[str]) -> frozenset[float]:
    """Return the numbers among texts of missing values: -999 is also -999.0.

    >>> from iln_stream.records.values import null_numbers
    >>> null_numbers(["NA", "-999"])
    frozenset({-999.0})

    """
    return frozenset(float(text) for text in texts if _NUMBER.fullmatch(text))


class Notation(NamedTuple):
    """How texts write numbers and dates."""

    # `.` or `,`: what stands before the decimals. With `,` dots may separate thousands.
    decimal: str = "."
    date_order: DateOrder = "ymd"  # order of year, month and day in dates that are not ISO 8601

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
    if kind in _TEXTS:
        return as_text(value)
    if isinstance(value, bytes):
        raise MalformedError(
            f"{name}: bytes are no input; ignore the field, or give it the type category (types) "
            "to take different bytes as different categories"
        )
    if kind not in _PLAIN:
        read = _amount if kind.startswith("amount") else _time
        return (_duration if kind == "duration" else read)(name, value, kind, notation)
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


_WORD = re.compile(r"\w+")
MOST_WORDS = 1_000
"""Of a text, those that count."""


def words_of(text: str) -> dict[str, None]:
    """Return the words of a text, and its pairs of words, each once, in small letters.

    >>> from iln_stream.records.values import words_of
    >>> list(words_of("Printer jam, again!"))
    ['printer', 'jam', 'again', 'printer jam', 'jam again']

    """
    words = [found[0] for found in islice(_WORD.finditer(text.casefold()), MOST_WORDS)]
    return dict.fromkeys((*words, *map(" ".join, pairwise(words))))


def spelled(text: str) -> str:
    """Return a category without what people vary: capitals, blanks, and .0 after digits."""
    return re.sub(r"(?<=\d)\.0+$", "", " ".join(text.split()).casefold())


def are_tags(texts: Sequence[str]) -> bool:
    """Whether texts list some of a few words, such as `red;new`, in different numbers."""
    for mark in ";|,":
        rows = [[part.strip(" []\"'{}()") for part in text.split(mark)] for text in texts]
        tags = Counter(chain(*rows))
        few = 5 * len(tags) <= tags.total() and 2 * len(tags) <= len({*texts})
        if few and len({*map(len, rows)}) > 1 and all(any(map(str.isalpha, tag)) for tag in tags):
            return True
    return False


def _amount(name: str, value: Any, kind: FieldType, notation: Notation) -> float:
    """Return a number in dress: with no unit, or with that of the type."""
    if isinstance(value, str) and notation.number(value) is None:
        found, unit = amount(value, notation.decimal), kind.removeprefix(_AMOUNT)
        if found is None or found.unit not in ("", unit, *unit.split()):
            wanted = "a number" if kind == "amount" else f"a number, also in {unit}"
            raise MalformedError(
                f"{name}: expected {wanted}, got {shown(value)}; correct it at the sender, give "
                "the field another type (types), or list the text among null_values"
            )
        return found.value
    number = as_input(name, value, "number", notation)
    assert isinstance(number, float)
    return number


def _duration(name: str, value: Any, kind: FieldType, notation: Notation) -> float:
    """Return seconds, as a text states them or as a number has them."""
    seconds = seconds_of(value) if isinstance(value, str) else None
    if seconds is None:
        try:
            seconds = float(as_input(name, value, "number", notation))
        except MalformedError:
            raise MalformedError(
                f"{name}: expected a duration, such as 1:40:17, PT1H40M or 1h 40m, got "
                f"{shown(value)}; correct it at the sender, or list the text among null_values"
            ) from None
    return seconds


def _time(name: str, value: Any, kind: FieldType, notation: Notation) -> float:
    if isinstance(value, bool):
        raise MalformedError(_wrong(name, "time", value))
    try:
        if isinstance(value, str) and notation.decimal == "," and "," in value:
            value = value if (number := notation.number(value)) is None else number
        if kind != "time":
            return time_in(kind.removeprefix(_TIME))(value)
        return posix_seconds(value, notation.date_order)
    except (ValueError, OverflowError) as error:
        advice = _ORDER if isinstance(value, str) and _YEAR_LAST.match(value.strip()) else ""
        raise MalformedError(f"{name}: {error}, got {shown(value)}{advice}") from None


_YEAR_LAST = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{4}")
_ORDER = "; set date_order to dmy (day first) or mdy (month first)"


def _other_decimal(name: str, value: Any, notation: Notation) -> str:
    comma = notation.decimal == "."
    mark, setting = ("comma", ",") if comma else ("point", ".")
    more = (
        f'. If commas stand between thousands, give the field the type amount: types = {{"{name}" '
        '= "amount"}'
        if comma and amount(value)
        else ""
    )
    return (
        f"{name}: {shown(value)} looks like a number with a decimal {mark}: if all numbers "
        f'are written so, set decimal = "{setting}"; if only some are, rewrite them at the sender '
        f"or in a decoder; if it is no number, give the field the type category (types){more}"
    )


def _wrong(name: str, kind: FieldType, value: Any) -> str:
    expected = "true or false" if kind == "boolean" else "a finite number"
    return (
        f"{name}: expected {expected}, got {shown(value)}; correct it at the sender, give the "
        "field another type (types), or list the text among null_values"
    )
