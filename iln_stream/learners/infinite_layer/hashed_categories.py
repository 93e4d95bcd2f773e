"""Which names of an event get columns, and which are hashed."""

import math
import warnings
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from iln_stream.errors import IlnWarning
from iln_stream.learners.checks import not_a_mapping
from iln_stream.learners.infinite_layer.part import require_fields
from iln_stream.state import StateDict

N_CELLS = 1 << 16
"""Cells that hashed names share."""

N_REGISTERS = 1 << 10
"""Registers of the count of distinct names."""


class HashedName(NamedTuple):
    """What the hash of a category's name determines: the same in all processes and releases."""

    field: str  # the text before the first "="
    cell: int  # its cell in tables, below `N_CELLS`
    sign: float  # 1.0 or -1.0, so that names that share a cell tend to cancel each other
    # register, rank: for `DistinctNames`
    register: int
    rank: int
    high: int = 0  # the bits above those of the cell, in tables of more than `N_CELLS`; below 4


def field_of(name: Any, value: Any) -> str | None:
    """Return the field of a category, an input named "field=category" of value 1; else None.

    Examples
    --------
    >>> from iln_stream.learners.infinite_layer.hashed_categories import field_of
    >>> field_of("sky=clear", 1.0), field_of("wind", 1.0), field_of("a=b", 3.5)
    ('sky', None, None)

    """
    if isinstance(name, str) and "=" in name and value == 1.0:
        return name.partition("=")[0]
    return None


@lru_cache(maxsize=4_096)
def hashed(name: str, field: str) -> HashedName:
    """Return what the hash of a category's name determines."""
    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    bits = int.from_bytes(digest, "little")
    rest = bits >> 27
    return HashedName(
        field,
        cell=bits & (N_CELLS - 1),
        sign=1.0 if bits & N_CELLS else -1.0,
        register=(bits >> 17) & (N_REGISTERS - 1),
        rank=38 - rest.bit_length(),
        high=rest & 3,
    )


class DistinctNames:
    """Estimates the number of distinct names that were added, within about 3 %.

    HyperLogLog [^1]: a register keeps the most leading zeros among the hashes assigned to it.

    References
    ----------
    [^1]: P. Flajolet, É. Fusy, O. Gandouet, F. Meunier. HyperLogLog: the analysis of a near-optimal
    cardinality estimation algorithm. AofA 2007.

    """

    def __init__(self) -> None:
        self.registers = np.zeros(N_REGISTERS, np.uint8)

    def add(self, name: HashedName) -> None:
        """Count a name, unless it was counted before."""
        if name.rank > self.registers[name.register]:
            self.registers[name.register] = name.rank

    @property
    def estimate(self) -> float:
        """Estimated number of distinct names."""
        m = N_REGISTERS
        n_empty = m - int(np.count_nonzero(self.registers))
        raw = (
            0.7213 / (1.0 + 1.079 / m) * m * m / float(np.exp2(-self.registers.astype(float)).sum())
        )
        return m * math.log(m / n_empty) if raw <= 2.5 * m and n_empty else raw


COLUMNS_PER_FIELD = 32
"""Categories of a field that get a column each."""

YOUNG = 1_024
"""A field that has more categories among so many events is hashed as a whole."""

MOST_FIELDS = 64
"""Fields with statistics of their own; further ones have common ones."""

OTHERS = ""
"""Name of these further fields, and of words: indicators whose names have no field."""


class SplitInputs(NamedTuple):
    """An event's inputs for the engine, and its hashed categories."""

    x: Mapping[Any, float]
    names: list[HashedName]
    whole: Mapping[Any, float]  # as it was before it was divided


class Routing:
    """Divides an event's names among the engine's columns and a table of hashed names.

    A category, an input named "field=category" of value 1, is hashed if its field has
    `COLUMNS_PER_FIELD` columns, or if all columns are taken. If that happens to a field within the
    first `YOUNG` events, then those of its categories that have columns are hashed from then on,
    too: nearly nothing was learned of them. All other names are left to the engine. With `words`,
    any text of value 1 that finds no column is hashed, as in a bag of words.
    """

    def __init__(self, max_columns: int, *, words: bool = False) -> None:
        self.max_columns = max_columns
        self.words = words
        self.fields: list[str] = []
        """Fields with hashed names, by the first of them; at most `MOST_FIELDS` and `OTHERS`."""
        self.whole: list[str] = []
        """Those of which all names are hashed."""
        self._forget()

    def _forget(self) -> None:
        self._place: Mapping[Any, int] | None = None
        self.plain: Mapping[Any, int] | None = None
        """The columns, while none is a category's and there is room for more: an event with as many
        names is the engine's alone, as a category among them would get a column."""

    def __getstate__(self) -> dict[str, Any]:
        """Copies follow their own engine's columns."""
        kept = ("max_columns", "words", "fields", "whole")
        return {name: value for name, value in self.__dict__.items() if name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def split(self, x: Mapping[Any, float], place: Mapping[Any, int]) -> SplitInputs:
        """Return x, divided; the hashed names are in the order in which names get columns.

        `place` has the column of each name that has one.
        """
        if place is not self._place:
            self._follow(place)
        if x.__class__ is not dict and not isinstance(x, Mapping):
            raise not_a_mapping(x)
        fresh = [name for name in x if name not in self._live]
        if len(fresh) > 1:
            fresh.sort(key=lambda name: (type(name).__name__, name))  # as columns are given
        room = self.max_columns - len(place)
        more: dict[str, int] = {}
        names = {}
        for name in fresh:
            field = field_of(name, x[name])
            if field is None:
                if room <= 0 and self.words and x[name] == 1.0 and isinstance(name, str):
                    names[name] = hashed(name, OTHERS)
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
            return SplitInputs(x, [], x)
        rest = dict(x)
        for name in names:
            del rest[name]
        return SplitInputs(rest, [*names.values()], dict(x))

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
            self._forget()
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
        self.plain = place if room and not fields and not self.whole else None


def _warn(field: str) -> None:
    others = f"what has no field, or one beyond {MOST_FIELDS},"
    which = others if field == OTHERS else f"the field {field!r:.60}"
    warnings.warn(
        f"{which} has more categories than columns (at most {COLUMNS_PER_FIELD} each, and "
        f"max_columns in all): new categories are hashed into {N_CELLS:,} cells, and the "
        "prediction is corrected by the effect learned in a category's cell; nothing is left out "
        "(n_hashed counts these inputs)",
        IlnWarning,
        stacklevel=2,
    )


class EffectsTable(Protocol):
    """What hashed categories change in predictions."""

    @property
    def occupied(self) -> float:
        """Share of cells that have learned."""

    def is_sound(self) -> bool:
        """Return whether all numbers are finite."""

    def shares(self) -> dict[str, float]:
        """Return the share of each field in all that varies."""

    def state(self) -> dict[str, Any]:
        """Return the state."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""


E = TypeVar("E", bound=EffectsTable)

INSPECT_EVERY = 1_024
"""Hashed inputs from one inspection of the effects to the next."""


class HashedCategories(Generic[E]):
    """Divides events between an engine and the effects of hashed categories.

    `make` makes the effects, once a category is hashed; `words` is as of `Routing`.
    """

    def __init__(self, max_columns: int, make: type[E], *, words: bool = False) -> None:
        self.routing = Routing(max_columns, words=words)
        self.distinct = DistinctNames()
        self.n_hashed = 0
        self.n_reset = 0
        """How often the effects began anew, as a number of them was not finite."""
        self.effects: E | None = None
        self._make = make

    def admit(self, event: SplitInputs) -> E:
        """Count the hashed categories of an event to learn, and return the effects."""
        before, self.n_hashed = self.n_hashed, self.n_hashed + len(event.names)
        if self.effects is None:
            self.effects = self._make()
        due = before // INSPECT_EVERY < self.n_hashed // INSPECT_EVERY
        if due and not self.effects.is_sound():
            self.begin_anew()
        for name in event.names:
            self.distinct.add(name)
        return self.effects

    def begin_anew(self) -> E:
        """Return new effects, in place of those that are not finite."""
        self.effects = self._make()
        self.n_reset += 1
        warnings.warn(
            f"the effects of hashed categories were not finite after {self.n_hashed} of them: they "
            "begin anew; look for extreme targets at that time, and report it",
            IlnWarning,
            stacklevel=2,
        )
        return self.effects

    @property
    def occupied(self) -> float:
        """Share of cells that have learned."""
        return 0.0 if self.effects is None else self.effects.occupied

    def state(self) -> StateDict | None:
        """Return the state; None if no category was hashed."""
        if self.effects is None:
            return None
        return {
            "fields": list(self.routing.fields),
            "whole": list(self.routing.whole),
            "n_hashed": self.n_hashed,
            "n_reset": self.n_reset,
            "registers": self.distinct.registers.copy(),
            "effects": self.effects.state(),
        }

    def restore(self, state: StateDict | None) -> None:
        """Resume from a state that `state` returned; this object must be new."""
        if state is None:
            return
        fields = ("fields", "whole", "n_hashed", "n_reset", "registers", "effects")
        require_fields(type(self).__name__, state, fields)
        self.routing.fields = list(state["fields"])
        self.routing.whole = list(state["whole"])
        self.n_hashed = state["n_hashed"]
        self.n_reset = state["n_reset"]
        self.distinct.registers = state["registers"].copy()
        self.effects = self._make()
        self.effects.restore(state["effects"])
