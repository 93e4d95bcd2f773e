"""Values of fields as inputs: numbers, categories, booleans, times."""

import re
from math import isfinite
from typing import Any, Literal, NamedTuple, get_args

from iln_stream.events import MalformedError
from iln_stream.mapping.times import DateOrder, posix_seconds

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
    >>> from iln_stream.mapping.values import as_input
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
