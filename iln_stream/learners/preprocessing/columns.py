"""From a dict of named inputs to a row of numbers."""

import math
import struct
import warnings
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import starmap, takewhile
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.errors import IlnWarning
from iln_stream.features.base import LARGEST_INPUT
from iln_stream.learners.checks import not_a_mapping, not_a_number
from iln_stream.state import StateDict, StateSchema, decode_name, encode_name

_SCHEMA = StateSchema("iln_stream.Columns", 1)


class Columns:
    """The column of each input name in a row.

    Columns are never forgotten: rows only grow to the right, and old rows stay valid with zeros in
    later columns. Names that arrive together get columns in sorted order, so the order of a dict's
    keys never matters.

    Parameters
    ----------
    max_columns
        The most names that get a column; the inputs of others are left out of the row and counted.
        The first one triggers a warning.
    absent
        Value in the row for a name that x lacks.

    """

    def __init__(self, max_columns: int, absent: float = 0.0) -> None:
        self.max_columns = max_columns
        self.absent = absent
        self._keep({})
        self.n_overflowed = 0  # inputs of learned events that found no column

    def __len__(self) -> int:
        return len(self.place)

    def row(self, x: Mapping[Any, float]) -> NDArray[np.float64]:
        """Return the row that `learn` would return, without changing anything.

        Raises
        ------
        ValueError
            When an input is not finite.

        """
        row = self._usual(x)
        return row if row is not None else _fill(x, self._with(x)[0], self.absent)

    def rows(self, xs: Sequence[Mapping[Any, float]]) -> NDArray[np.float64]:
        """Return the rows (m, d) of the first events, and change nothing.

        They end before one with a new name, or an input that is not a finite number.
        """
        d, found = len(self.place), list[NDArray[np.float64]]()
        if self._take_all is not None and set(map(len, xs)) == {d}:  # as usual
            with suppress(Exception):
                packed = b"".join(starmap(self._pack, map(self._take_all, xs)))
                X = np.frombuffer(packed).reshape(-1, d)
                if np.abs(X).max() <= LARGEST_INPUT:
                    return X
        with suppress(Exception):
            for x in takewhile(lambda x: x.keys() <= self.place.keys(), xs):
                found.append(self.row(x))
        X = np.array(found).reshape(len(found), d)
        X.flags.writeable = False  # as a single row
        return X

    def learn(self, x: Mapping[Any, float]) -> NDArray[np.float64]:
        """Return the row, and keep the columns given to new names."""
        row = self._usual(x)
        if row is not None:
            if len(x) > len(self.place):
                self.n_overflowed += len(x) - len(self.place)
            return row
        place, left_out = self._with(x)
        row = _fill(x, place, self.absent)
        if left_out:
            self.n_overflowed += len(left_out)
            # Before columns are kept: where warnings are errors, only the count changes.
            if self.n_overflowed == len(left_out):
                warn_of_overflow(left_out[0], self.max_columns)
        if place is not self.place:
            self._keep(place)
        return row

    def state(self) -> StateDict:
        """Return the names in the order of their columns, and the count of overflowed inputs."""
        return _SCHEMA.write(
            max_columns=self.max_columns,
            n_overflowed=self.n_overflowed,
            names=[encode_name(name) for name in self.place],
        )

    def restore(self, state: StateDict) -> None:
        """Take the columns of a state, which does not tell `absent`."""
        self.max_columns, self.n_overflowed, names = _SCHEMA.read(
            state, "max_columns", "n_overflowed", "names"
        )
        self._keep({decode_name(text): i for i, text in enumerate(names)})

    def __getstate__(self) -> tuple[int, float, int, dict[Any, int]]:
        return self.max_columns, self.absent, self.n_overflowed, self.place

    def __setstate__(self, state: tuple[int, float, int, dict[Any, int]]) -> None:
        self.max_columns, self.absent, self.n_overflowed, place = state
        self._keep(place)

    def _keep(self, place: dict[Any, int]) -> None:
        self.place = place
        self._pack = struct.Struct(f"{len(place)}d").pack
        self._take_all: Callable[[Mapping[Any, float]], tuple[float, ...]] | None = (
            itemgetter(*place) if len(place) > 1 else None  # for one name it returns no tuple
        )
        self._nothing = array("d", [self.absent]) * len(place)
        self._last_packed, self._last_n = b"", 0
        self._last_row: NDArray[np.float64] | None = None  # of these; it is read-only

    def _usual(self, x: Mapping[Any, float]) -> NDArray[np.float64] | None:
        """The row of an event that has some or all known names and ordinary values; else None.

        If all, it may have others, too, once names are left out and it was warned of that.

        Most events are like that, and this takes a quarter of the time of `_fill`, or next to none
        if the last row had the same values, as when an event is learned after its prediction.
        """
        try:
            n, d = len(x), len(self.place)
            values: Iterable[float]
            if self._take_all is None:
                return None
            if n > d and not (self.n_overflowed and d == self.max_columns):
                return None
            if n < d:  # as where columns are of categories
                values, row, place = x.values(), self._nothing[:], self.place
                for name, value in x.items():
                    row[place[name]] = value
                packed = row.tobytes()
            else:
                values = self._take_all(x)
                packed = self._pack(*values)
            # Bits, because 0.0 == -0.0; as many names, because a value of x may look absent.
            if packed == self._last_packed and n == self._last_n:
                return self._last_row
            # One comparison for all: false for nan, infinities and values that must be clipped.
            if math.hypot(*values) <= LARGEST_INPUT:
                self._last_row = np.frombuffer(packed)
                self._last_packed, self._last_n = packed, n
                return self._last_row
        except (KeyError, IndexError, TypeError, AttributeError, OverflowError, struct.error):
            pass  # a name is missing or new, or a value is not a number: `_fill` reports it
        return None

    def _with(self, x: Mapping[Any, float]) -> tuple[dict[Any, int], list[Any]]:
        """The columns once x is known, and the names of x that get none."""
        if not isinstance(x, Mapping):
            raise not_a_mapping(x)
        fresh = [name for name in x if name not in self.place]
        if not fresh:
            return self.place, []
        # By type first: names of different types have no order among themselves.
        fresh.sort(key=lambda name: (type(name).__name__, name))
        room = self.max_columns - len(self.place)
        newcomers = enumerate(fresh[:room], start=len(self.place))
        return self.place | {name: i for i, name in newcomers}, fresh[room:]


def warn_of_overflow(name: Any, max_columns: int) -> None:
    """Warn about the first input that gets no column."""
    warnings.warn(
        f"the input {name!r:.60} is left out, as are all new ones from now on: max_columns = "
        f"{max_columns} names have columns; leave out ids and free text, where each value makes "
        "a name, or raise max_columns (n_overflowed counts the inputs left out)",
        IlnWarning,
        stacklevel=2,
    )


def _fill(x: Mapping[Any, float], place: Mapping[Any, int], absent: float) -> NDArray[np.float64]:
    row = np.full(len(place), absent)
    for name, value in x.items():
        i = place.get(name)
        if i is not None:
            try:
                # Beyond about 2^50 a double no longer resolves the phase of a cosine anyway.
                row[i] = max(-LARGEST_INPUT, min(value, LARGEST_INPUT))
            except TypeError as error:
                raise not_a_number(name, value) from error
            if value != value or abs(value) == math.inf:
                raise not_a_number(name, value)
    row.flags.writeable = False  # like a usual row: numba compiles anew for one that is not
    return row
