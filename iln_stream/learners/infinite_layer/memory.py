"""The last events."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.standardise import ABSENT
from iln_stream.learners.infinite_layer.part import Part


class Memory(Part):
    """A ring of events: raw rows, targets, the targets before them, and what experts predicted.

    Parameters
    ----------
    size
        N, the most events kept.
    n_lags
        How many earlier targets are kept with an event.
    n_experts
        How many experts' predictions are kept with it.

    """

    kept = ("columns", "lags", "y", "predictions", "n")

    def __init__(self, size: int, n_lags: int, n_experts: int) -> None:
        self.columns = np.zeros((0, size))
        self.lags = np.zeros((size, n_lags))
        self.y = np.zeros(size)
        self.predictions = np.zeros((size, n_experts))
        self.n = 0  # events ever put in

    @property
    def filled(self) -> int:
        """Number of events kept."""
        return min(self.n, len(self.y))

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, absent in the events before."""
        self.columns = np.pad(self.columns, [(0, n_columns), (0, 0)], constant_values=ABSENT)

    def put(
        self,
        row: NDArray[np.float64],
        lags: NDArray[np.float64],
        y: float,
        predictions: NDArray[np.float64],
    ) -> None:
        """Keep an event in place of the oldest."""
        i = self.n % len(self.y)
        self.columns[:, i] = row
        self.lags[i] = lags
        self.y[i] = y
        self.predictions[i] = predictions
        self.n += 1
