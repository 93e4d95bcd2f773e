"""Texts that are taken as categories, though so many different ones are times or numbers."""

import warnings
from contextlib import suppress
from typing import get_args

from iln_stream.errors import IlnWarning
from iln_stream.records.decoding import MOST_WARNINGS
from iln_stream.records.times import DateOrder, posix_seconds
from iln_stream.records.values import dress_of

MANY = 32
"""A category rarely has more different texts."""

_LONGEST = 60


class ManyTexts:
    """Looks at the first different texts of a field, and warns if they say times or numbers.

    Examples
    --------
    >>> import warnings
    >>> from iln_stream.records.many_texts import ManyTexts
    >>> texts = ManyTexts(decimal=".")
    >>> with warnings.catch_warnings(record=True) as given:
    ...     for i in range(40):
    ...         texts.watch("load", f"{i} kW")
    >>> str(given[0].message)[:66]
    'load: 33 different texts, such as 32 kW, are taken as categories: '

    """

    def __init__(self, decimal: str) -> None:
        self._decimal = decimal
        self._seen: dict[str, set[str]] = {}

    def watch(self, name: str, text: str) -> None:
        """Look at a text of a field; of the first twenty such fields."""
        seen = self._seen.get(name)
        if seen is None:
            if len(self._seen) == MOST_WARNINGS:
                return
            seen = self._seen[name] = set()
        if len(seen) > MANY:
            return
        seen.add(text[:_LONGEST])
        if len(seen) > MANY and (found := self._setting(name, seen)) is not None:
            warnings.warn(
                f"{name}: {len(seen)} different texts, such as {text[:_LONGEST]}, are taken as "
                f"categories: set {found} (`iln-stream inspect-source` proposes settings)",
                IlnWarning,
                stacklevel=2,
            )

    def _setting(self, name: str, texts: set[str]) -> str | None:
        """Return what to set if all say times, or numbers in one unit."""
        kind, *others = {dress_of(text, self._decimal) for text in texts}
        if kind is not None and not others:
            return f'types = {{"{name}" = "{kind}"}}'
        for order in get_args(DateOrder):
            with suppress(ValueError):
                for text in texts:
                    posix_seconds(text, order)
                return "time_field to it, or ignore it"
        return None
