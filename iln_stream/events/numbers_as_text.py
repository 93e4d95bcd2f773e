"""Texts that are numbers, among inputs whose texts are categories."""

import re
import warnings
from collections.abc import Mapping
from typing import Any

from iln_stream.errors import IlnWarning

_NUMBER = re.compile(r"\s*[+-]?(?!0\d)(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
"""With a decimal point or comma; digits after a leading zero are a code, such as a postcode."""

_MOST_WARNINGS = 20


class NumbersAsText:
    """Counts texts that look like numbers but are categories, and warns once of each name.

    In events a text is a category: `"21.5"` becomes the input `temp=21.5`, one of its own for each
    number. That is right for codes, and a mistake of the sender otherwise.

    Examples
    --------
    >>> import warnings
    >>> from iln_stream.events.numbers_as_text import NumbersAsText
    >>> texts = NumbersAsText()
    >>> with warnings.catch_warnings(record=True):
    ...     texts.watch({"temp": "21.5", "sky": "clear", "zip": "01067", "wind": 3.0})
    1

    """

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def watch(self, x: Mapping[str, Any]) -> int:
        """Return how many inputs are numbers as text."""
        n = 0
        for name, value in x.items():
            # A number has no letter in front: the pattern takes three times as long to tell.
            if type(value) is str and not value[:1].isalpha() and _NUMBER.fullmatch(value):
                n += 1
                if name not in self._warned and len(self._warned) < _MOST_WARNINGS:
                    self._warn(name, value)
        return n

    def _warn(self, name: str, value: str) -> None:
        self._warned.add(name)
        comma = ' and decimal = ","' if "," in value else ""
        warnings.warn(
            f"x.{name}: the text {value[:40]!r} is taken as a category. If it is a number, send it "
            f'without quotes, or set target = y and types = {{"x.{name}" = "number"}}{comma}',
            IlnWarning,
            stacklevel=3,
        )
