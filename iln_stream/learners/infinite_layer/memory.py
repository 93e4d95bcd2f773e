"""The last events."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels import nearest as kernels
from iln_stream.kernels.standardise import ABSENT
from iln_stream.learners.infinite_layer.part import Part


class Memory(Part):
    """A ring of events: raw rows, targets, the targets before them, and what was predicted.

    Parameters
    ----------
    size
        N, the most events kept.
    n_lags
        How many earlier targets are kept with an event.
    n_experts
        How many experts' predictions are kept with it.

    """

    kept = ("columns", "lags", "y", "mean", "predictions", "n")

    def __init__(self, size: int, n_lags: int, n_experts: int) -> None:
        self.columns = np.zeros((0, size))
        self.lags = np.zeros((size, n_lags))
        self.y = np.zeros(size)
        self.mean = np.zeros(size)
        self.predictions = np.zeros((size, n_experts))
        self.n = 0  # events ever put in
        self._distances = np.zeros(size)

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
        mean: float,
        predictions: NDArray[np.float64],
    ) -> None:
        """Keep an event in place of the oldest."""
        i = self.n % len(self.y)
        self.columns[:, i] = row
        self.lags[i] = lags
        self.y[i] = y
        self.mean[i] = mean
        self.predictions[i] = predictions
        self.n += 1

    def median_near(self, row: NDArray[np.float64], scale: NDArray[np.float64], k: int) -> float:
        """Return the median target of the k events nearest to a row, columns scaled by `scale`."""
        n = self.filled
        kernels.squared_distances(self.columns, n, row, scale, self._distances)
        return float(kernels.median_of_nearest(self._distances, self.y, n, k))

    def median_where_predicted(self, mean: float, k: int) -> float:
        """Return the median target of the k events whose predicted mean was nearest to `mean`."""
        n = self.filled
        kernels.scalar_distances(self.mean, n, mean, self._distances)
        return float(kernels.median_of_nearest(self._distances, self.y, n, k))
