"""One event on its way through the experts."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Observation:
    """An event as the experts see it; the next event overwrites its arrays.

    Parameters
    ----------
    n_lags
        Number of last targets that are inputs, too.
    d
        Number of columns.

    Attributes
    ----------
    row
        Values (d,), with `ABSENT` where a value is missing.
    v
        Last targets and `z`, (n_lags + d,).
    center, unit
        The target's scale at the time of the prediction.

    """

    __slots__ = ("center", "n_lags", "row", "unit", "v")

    def __init__(self, n_lags: int, d: int) -> None:
        self.row: Vector = np.zeros(d)
        self.v: Vector = np.zeros(n_lags + d)
        self.n_lags = n_lags
        self.center = 0.0
        self.unit = 1.0

    @property
    def z(self) -> Vector:
        """The values' deviations, (d,): a view of v, which a copy of a stored view would not be."""
        return self.v[self.n_lags :]
