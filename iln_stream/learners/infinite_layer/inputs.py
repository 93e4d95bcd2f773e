"""From a dict of raw inputs to a standardised row."""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import ABSENT, CHANGED_AT, join, no_statistics, standardise
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.preprocessing.columns import Columns


class Inputs(Part):
    """Standardises named inputs of any scale and offset online.

    Mean and sd of each column have a robust start, and are winsorised at 6 sd from the 30th value
    on, so an outlier moves them by a bounded amount; after a change of level or scale they start
    again: see `kernels.columns`. A standardised value is within +-5. It is 0 for a constant column,
    for a column in its first event, and for an absent value that does not count as an input of 0
    (see `value_of` there). The statistics used for a row include that row. Statistics that are not
    finite are computed anew from the events in the memory.
    """

    kept = ("stats",)
    parts = ("columns",)

    def __init__(self, max_columns: int, memory: Memory | None = None) -> None:
        self.memory = memory
        self.columns = Columns(max_columns, absent=ABSENT)
        self.stats = no_statistics(0)
        self.d = 0  # number of columns: reading the array's shape takes a fiftieth of a fast event

    def __len__(self) -> int:
        """Number of columns, d."""
        return self.d

    def row(self, x: Mapping[Any, float]) -> NDArray[np.float64]:
        """Return the raw row (d,) of x; names without a column are left out."""
        row = self.columns.row(x)
        return row if len(row) == self.d else row[: self.d]

    def admit(self, x: Mapping[Any, float]) -> NDArray[np.float64]:
        """Give the new names of x columns, and return its raw row."""
        row = self.columns.learn(x)
        if len(row) > self.d:
            fresh = no_statistics(len(row) - self.d)
            self.stats = np.concatenate([self.stats, fresh], axis=1)
            self.d = len(row)
        return row

    def standardise(
        self, x: NDArray[np.float64], row: NDArray[np.float64], z: NDArray[np.float64]
    ) -> None:
        """Write the values of the raw row x into `row` and their deviations into z."""
        standardise(x, self.stats, row, z)

    def join(self, x: NDArray[np.float64], n: int) -> None:
        """Add the raw row x of the n-th event to the statistics."""
        join(x, self.stats, n)

    @property
    def changed_at(self) -> int:
        """The last event since which the level or the scale of half the columns changed; or 0.

        Of many columns, some change all the time.
        """
        if not self.d:
            return 0
        middle = float(np.sort(self.stats[CHANGED_AT])[self.d // 2])
        return int(middle) if math.isfinite(middle) else 0

    @property
    def sd(self) -> NDArray[np.float64]:
        """Standard deviation of each column, (d,); 0 where its values agree to within rounding."""
        count, mean, squares = self.stats[:3]
        varies = squares > 1e-26 * count * mean**2
        sd: NDArray[np.float64] = np.sqrt(np.where(varies, squares, 0.0) / np.maximum(count, 1.0))
        return sd

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the statistics; columns have no such numbers."""
        yield "stats", self.stats

    def reinitialise(self, broken: Collection[str]) -> None:
        """Compute the statistics of the broken columns anew from the memory's rows."""
        columns = ~np.isfinite(self.stats).all(axis=0)
        stats = no_statistics(int(columns.sum()))
        if self.memory is not None:
            rows = np.ascontiguousarray(self.memory.columns[columns].T)
            rows.flags.writeable = False  # as an event's row: the same compiled loop
            for n, i in self.memory.numbered():
                join(rows[i], stats, n)
        self.stats[:, columns] = stats

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.d = self.stats.shape[1]
