"""One event on its way through the experts."""

from typing import Any

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
    z
        The values' deviations, (d,): a view of v.
    center, unit
        The target's scale at the time of the prediction.
    delay
        Number of events learned since this one was predicted, if its label is late.
    weight
        How much the event counts when experts and rules learn it.
    sound
        Whether all predictions and weights were finite, so far.
    faults
        Experts whose predictions were not, each with a mask of these (n,).

    """

    __slots__ = ("center", "delay", "faults", "row", "sound", "unit", "v", "weight", "z")

    def __init__(self, n_lags: int, d: int) -> None:
        self.row: Vector = np.zeros(d)
        self.v: Vector = np.zeros(n_lags + d)
        self.z = self.v[n_lags:]
        self.center = 0.0
        self.unit = 1.0
        self.delay = 0
        self.weight = 1.0
        self.sound = True
        self.faults: list[tuple[Any, NDArray[np.bool_]]] = []

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy is empty, with a view of its own: an engine's copy predicts again."""
        return Observation, (len(self.v) - len(self.z), len(self.row))
