"""From a dict of named inputs to a row of numbers."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.features.base import LARGEST_INPUT


class Columns:
    """Which place in a row each name has.

    Columns are never forgotten, so a row only ever grows to the right and old rows stay valid
    with zeros for what came later. Names that come together are placed in sorted order, so the
    order of a dict's keys never matters.

    Parameters
    ----------
    max_columns
        No more names than this are given a place; the inputs of others are left out of the row.

    """

    def __init__(self, max_columns: int) -> None:
        self.max_columns = max_columns
        self.place: dict[Any, int] = {}
        self.n_overflowed = 0  # inputs of learned events that found no place

    def __len__(self) -> int:
        return len(self.place)

    def row(self, x: Mapping[Any, float]) -> NDArray[np.float64]:
        """Return the row that `learn` would return, remembering nothing.

        Raises
        ------
        ValueError
            When an input is not finite.

        """
        place, _ = self._with(x)
        return _fill(x, place)

    def learn(self, x: Mapping[Any, float]) -> NDArray[np.float64]:
        """Return the row, and keep the places that new names were given in it."""
        place, n_left_out = self._with(x)
        row = _fill(x, place)
        self.place = place
        self.n_overflowed += n_left_out
        return row

    def _with(self, x: Mapping[Any, float]) -> tuple[dict[Any, int], int]:
        """The places once x is known, and how many of its names find none."""
        fresh = [name for name in x if name not in self.place]
        if not fresh:
            return self.place, 0
        # By type first: names of different types have no order among themselves.
        fresh.sort(key=lambda name: (type(name).__name__, name))
        room = self.max_columns - len(self.place)
        newcomers = enumerate(fresh[:room], start=len(self.place))
        return self.place | {name: i for i, name in newcomers}, len(fresh[room:])


def _fill(x: Mapping[Any, float], place: Mapping[Any, int]) -> NDArray[np.float64]:
    row = np.zeros(len(place))
    for name, value in x.items():
        i = place.get(name)
        if i is not None:
            row[i] = value
    if not np.isfinite(row).all():
        bad = next(name for name, i in place.items() if not np.isfinite(row[i]))
        raise ValueError(
            f"x[{bad!r}] is {x[bad]}: inputs must be finite numbers; leave out what is unknown"
        )
    # Beyond about 2^50 a double no longer resolves the phase of a cosine anyway.
    return np.clip(row, -LARGEST_INPUT, LARGEST_INPUT, out=row)
