"""Texts that are taken as categories, though so many different ones are times or numbers."""

import warnings

from iln_stream.errors import IlnWarning
from iln_stream.records.decoding import MOST_WARNINGS
from iln_stream.records.fields import FieldMapping
from iln_stream.records.inspected import Why
from iln_stream.records.inspection import inspect_fields
from iln_stream.records.values import Notation, is_dressed

MANY = 32
"""A category rarely has more different texts."""

_LONGEST = 60


class ManyTexts:
    """Keeps the first different texts of a field, and warns if they are times or numbers in dress.

    Examples
    --------
    >>> import warnings
    >>> from iln_stream.records.many_texts import ManyTexts
    >>> from iln_stream.records.values import Notation
    >>> texts = ManyTexts(Notation())
    >>> with warnings.catch_warnings(record=True) as given:
    ...     for i in range(40):
    ...         texts.watch("load", f"{i} kW")
    >>> str(given[0].message)[:66]
    'load: 33 different texts, such as 32 kW, are taken as categories: '

    """

    def __init__(self, notation: Notation) -> None:
        self._given = FieldMapping(target="", notation=notation)
        self._texts: dict[str, dict[str, None]] = {}  # by field, in order

    def watch(self, name: str, text: str) -> None:
        """Look at a text of a field, of the first twenty such fields."""
        texts = self._texts.get(name)
        if texts is None:
            if len(self._texts) == MOST_WARNINGS:
                return
            texts = self._texts[name] = {}
        if len(texts) > MANY:
            return
        texts[text[:_LONGEST]] = None
        if len(texts) > MANY and (setting := self._setting(name)) is not None:
            warnings.warn(
                f"{name}: {len(texts)} different texts, such as {text[:_LONGEST]}, are taken as "
                f"categories: set {setting} (`iln-stream inspect-source` proposes settings)",
                IlnWarning,
                stacklevel=2,
            )

    def _setting(self, name: str) -> str | None:
        """Return what reads the texts, as `inspect-source` would read them."""
        (field,) = inspect_fields([{name: text} for text in self._texts[name]], self._given)
        if is_dressed(field.type):
            return f'types = {{"{name}" = "{field.type}"}}'
        is_time = field.role == "time" or field.why == Why.DATES
        return "time_field to it, or ignore it" if is_time else None
