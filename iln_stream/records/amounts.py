"""Numbers as people write them: with a unit, and with marks between thousands.

`locale`, Babel and `price-parser` each read some of these; they need the locale, or guess for each
value what its comma means, so that 1,204 beside 3,5 would be wrong in silence.
"""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from iln_stream.records.words import WORDS

_MINUS = str.maketrans(dict.fromkeys("\N{MINUS SIGN}\N{EN DASH}\N{FULLWIDTH HYPHEN-MINUS}", "-"))
_MARKS = " \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}'\u2019_"
_PARTS = re.compile(
    r"(?P<before>(?:[^\d.,+-]|(?<=[a-z/])\.)*)(?P<sign>[+-]?)\s*(?P<currency>[^\d.,+-]*)"
    rf"(?P<digits>[.,]?\d(?:[\d.,{_MARKS}]*\d)?[.,]?)(?P<gap>\s*)(?P<after>.*?)"
)
_SPREADSHEET = re.compile('="(?P<cell>.*)"|\'(?=[-+\\d.])')
"""How spreadsheets keep a number as text."""
_ABOUT = re.compile(r"\A(?:~|\N{ALMOST EQUAL TO}|(?:ca|approx|circa|about)\b\.?)\s*", re.IGNORECASE)
_IN_BRACKETS = re.compile(r"([^\w(]*)\((.+)\)")
_CURRENCIES = frozenset(WORDS["currencies"])
_SCALES = {
    **dict.fromkeys(("K", "k", "thousand", "Tsd", "tys", "тыс"), 1e3), "万": 1e4, "lakh": 1e5,
    **dict.fromkeys(("M", "Mio", "mln", "млн", "million"), 1e6), "crore": 1e7, "億": 1e8, "亿": 1e8,
    **dict.fromkeys(("B", "bn", "Bn", "Mrd", "mld", "млрд", "billion"), 1e9), "trillion": 1e12,
}  # fmt: skip
_SCALE = re.compile(rf"((?:{'|'.join(_SCALES)})(?:\b|(?<=[万億亿])))\.?\s*")
_MOST = 12
"""Characters of a unit."""


class Amount(NamedTuple):
    """A number, and the unit that stands beside it; empty: none."""

    value: float
    unit: str


@lru_cache
def _grouped(decimal: str) -> re.Pattern[str]:
    """Return the pattern of digits with marks between thousands (or as in India) and decimals."""
    mark = rf"[{'.' if decimal == ',' else ','}{_MARKS}]"
    groups = rf"[1-9]\d{{0,2}}(?P<mark>{mark})\d{{3}}(?:(?P=mark)\d{{3}})*"
    if decimal == ".":
        groups += r"|\d{1,2}(?:,\d{2})+,\d{3}"
    return re.compile(rf"(?:{groups}|\d+)?(?:\{decimal}\d*)?")


def amount(text: str, decimal: str = ".") -> Amount | None:
    """Return the number that a text states in dress; None: it states none.

    Parameters
    ----------
    text
        A number with a unit, marks between thousands, any minus sign, parentheses (negative), or K,
        M or B for thousands, millions and billions.
    decimal
        What stands before the decimals.

    Examples
    --------
    >>> from iln_stream.records.amounts import amount
    >>> amount("$1,204.50"), amount("(10.2)"), amount("69.21K"), amount("10 951,00 EUR", ",")
    (Amount(value=1204.5, unit='$'), Amount(value=-10.2, unit=''), \
Amount(value=69210.0, unit=''), Amount(value=10951.0, unit='EUR'))
    >>> amount("12 to 15"), amount("007"), amount("3,5")
    (None, None, None)

    """
    text = _ABOUT.sub("", _SPREADSHEET.sub(r"\g<cell>", text.strip())).translate(_MINUS)
    negative = (inside := _IN_BRACKETS.fullmatch(text)) is not None
    parts = _PARTS.fullmatch("".join(map(str.strip, inside.groups())) if inside else text)
    if parts is None:
        return None
    digits, after = parts["digits"], parts["after"]
    before = (parts["before"] + parts["currency"]).strip()
    if after in ("-", "--"):  # as accountants write it, or 12.- for 12.00
        negative, after = digits[-1] not in ".,", ""
    scale = 1.0
    found = _SCALE.match(after)
    is_word = found and (len(found[1]) > 1 or not found[1].isascii())
    if found and (is_word or not parts["gap"]):  # 300 K are Kelvin
        after, scale = after[found.end() :], _SCALES[found[1]]
    if before and (after or not _is_currency(before)):
        return None
    if after and not _is_unit(after):
        return None
    if (digits[0] == "0" and digits[1:2].isdigit()) or not _grouped(decimal).fullmatch(digits):
        return None
    marks = ("." if decimal == "," else ",") + _MARKS
    number = digits.translate(dict.fromkeys(map(ord, marks))).replace(decimal, ".")
    sign = -1.0 if negative != (parts["sign"] == "-") else 1.0
    return Amount(sign * round(float(number) * scale, 9), before or after)


def _is_currency(text: str) -> bool:
    symbols = any(unicodedata.category(each) == "Sc" for each in text)
    return (symbols and len(text) <= 5) or text.lower().rstrip(".") in _CURRENCIES


def _is_unit(text: str) -> bool:
    first = text[0]
    known = first.isalpha() or first in "%‰" or unicodedata.category(first) in ("Sc", "So")
    known = known or text in ("*", "\N{DAGGER}")  # of a footnote
    return known and len(text) <= _MOST and not re.search(r"[+:,;]|\s\d|\d.*\d|^[eE]\d", text)
