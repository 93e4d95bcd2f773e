"""Which names of an event get columns, and which are hashed."""

import warnings
from collections.abc import Mapping
from typing import Any

from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.categories.hashed_name import (
    N_CELLS,
    HashedName,
    field_of,
    hashed,
)
from iln_stream.learners.validation import not_a_mapping

COLUMNS_PER_FIELD = 32
"""Categories of a field that get a column each."""

YOUNG = 1_024
"""A field that has more categories among so many events is hashed as a whole."""

MOST_FIELDS = 64
"""Fields with statistics of their own; further ones have common ones."""

OTHERS = ""
"""Name of these further fields."""


class Routing:
    """Divides an event's names among the engine's columns and a table of hashed names.

    A category, an input named "field=category" of value 1, is hashed if its field has
    `COLUMNS_PER_FIELD` columns, or if all columns are taken. If that happens to a field within the
    first `YOUNG` events, then those of its categories that have columns are hashed from then on,
    too: nearly nothing was learned of them. All other names are left to the engine.

    Parameters
    ----------
    max_columns
        The most names that get a column.

    """

    def __init__(self, max_columns: int) -> None:
        self.max_columns = max_columns
        self.fields: list[str] = []
        """Fields with hashed names, by the first of them; at most `MOST_FIELDS` and `OTHERS`."""
        self.whole: list[str] = []
        """Those of which all names are hashed."""
        self._forget()

    def _forget(self) -> None:
        self._place: Mapping[Any, int] | None = None
        self._n_plain = -1

    def __getstate__(self) -> dict[str, Any]:
        """Copies follow their own engine's columns."""
        kept = ("max_columns", "fields", "whole")
        return {name: value for name, value in self.__dict__.items() if name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def is_plain(self, x: Mapping[Any, float], place: Mapping[Any, int]) -> bool:
        """Return whether x is for the engine alone, by a quick test that may miss some.

        No column is a category's, and x has as many names as there are columns. A category among
        them would get a column.
        """
        try:
            return len(x) == self._n_plain and place is self._place
        except TypeError:
            raise not_a_mapping(x) from None

    def split(
        self, x: Mapping[Any, float], place: Mapping[Any, int]
    ) -> tuple[Mapping[Any, float], list[HashedName]]:
        """Return the inputs for the engine, and the hashed names, in the order of the names.

        Parameters
        ----------
        x
            An event's inputs.
        place
            The column of each name that has one.

        """
        if place is not self._place:
            self._follow(place)
        if not isinstance(x, Mapping):
            raise not_a_mapping(x)
        if x.keys() <= self._live:
            return x, []
        fresh = [name for name in x if name not in self._live]
        fresh.sort(key=lambda name: (type(name).__name__, name))  # as columns are given
        room = self.max_columns - len(place)
        more: dict[str, int] = {}
        names = {}
        for name in fresh:
            field = field_of(name, x[name])
            if field is None:
                room -= name not in place
                continue
            n_columns = self._n_columns.get(field, 0) + more.get(field, 0)
            if field in self.whole or n_columns >= COLUMNS_PER_FIELD or room <= 0:
                known = field in self.fields or len(self.fields) < MOST_FIELDS
                names[name] = hashed(name, field if known else OTHERS)
            else:
                more[field] = more.get(field, 0) + 1
                room -= 1
        if not names:
            return x, []
        return {name: value for name, value in x.items() if name not in names}, [*names.values()]

    def admit(self, names: list[HashedName], n: int) -> bool:
        """Take note of the hashed names of the n-th event; return whether others are hashed now.

        The first name of a field triggers a warning.
        """
        fresh = dict.fromkeys(name.field for name in names if name.field not in self.fields)
        if not fresh:
            return False
        self.fields.extend(fresh)
        if n < YOUNG:
            self.whole.extend(field for field in fresh if field != OTHERS)
            self._place = None
        for field in fresh:  # last, so that where warnings are errors, only one event is missed
            _warn(field)
        return n < YOUNG

    def _follow(self, place: Mapping[Any, int]) -> None:
        """Take note of the columns."""
        fields = {name: name.partition("=")[0] for name in place if field_of(name, 1.0) is not None}
        self._place = place
        self._live = {name for name in place if fields.get(name) not in self.whole}
        self._n_columns: dict[str, int] = {}
        for field in fields.values():
            self._n_columns[field] = self._n_columns.get(field, 0) + 1
        room = len(place) < self.max_columns
        self._n_plain = len(place) if room and not fields and not self.whole else -1


def _warn(field: str) -> None:
    which = f"the field {field!r:.60}" if field != OTHERS else f"fields beyond {MOST_FIELDS}"
    warnings.warn(
        f"{which} has more categories than columns (at most {COLUMNS_PER_FIELD} each, and "
        f"max_columns in all): new categories are hashed into {N_CELLS:,} cells, and the "
        "prediction is corrected by the effect learned in a category's cell; nothing is left out "
        "(n_hashed counts these inputs)",
        IlnWarning,
        stacklevel=2,
    )
