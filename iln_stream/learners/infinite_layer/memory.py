"""The last events."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.standardise import ABSENT
from iln_stream.learners.infinite_layer.part import Part


class Memory(Part):
    """A ring buffer of events: raw rows, targets, earlier targets, and the experts' predictions.

    Parameters
    ----------
    size
        N, the most events kept.
    n_lags
        Number of earlier targets kept with an event.
    n_experts
        Number of experts whose predictions are kept with it.

    """

    kept = ("columns", "lags", "y", "predictions", "n")

    def __init__(self, size: int, n_lags: int, n_experts: int) -> None:
        self.columns = np.zeros((0, size))
        self.lags = np.zeros((size, n_lags))
        self.y = np.zeros(size)
        self.predictions = np.zeros((size, n_experts))
        self.n = 0  # number of events ever stored

    @property
    def filled(self) -> int:
        """Number of events kept."""
        return min(self.n, len(self.y))

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, absent in earlier events."""
        self.columns = np.pad(self.columns, [(0, n_columns), (0, 0)], constant_values=ABSENT)

    def put(
        self,
        row: NDArray[np.float64],
        lags: NDArray[np.float64],
        y: float,
        predictions: NDArray[np.float64],
    ) -> None:
        """Store an event, replacing the oldest if full."""
        i = self.n % len(self.y)
        self.columns[:, i] = row
        self.lags[i] = lags
        self.y[i] = y
        self.predictions[i] = predictions
        self.n += 1
