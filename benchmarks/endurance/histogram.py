"""A histogram of positive numbers: quantiles of any number of events in little memory."""

import numpy as np
from numpy.typing import NDArray

_BINS_PER_OCTAVE = 32
_LOWEST, _HIGHEST = -60, 100
"""Exponents of 2. Numbers beyond count as these."""

N_BINS = _BINS_PER_OCTAVE * (_HIGHEST - _LOWEST)


class Histogram:
    """Counts in bins 2 % wide.

    Parameters
    ----------
    counts
        Counts so far, shape (N_BINS,); None: none.

    Examples
    --------
    >>> import numpy as np
    >>> histogram = Histogram()
    >>> histogram.add(np.linspace(1.0, 2.0, 1001))
    >>> round(histogram.quantile(0.5), 1)
    1.5

    """

    def __init__(self, counts: NDArray[np.int64] | None = None) -> None:
        self.counts = np.zeros(N_BINS, np.int64) if counts is None else counts.copy()

    def add(self, values: NDArray[np.float64]) -> None:
        """Count finite numbers; those below 2^-60 count as 2^-60."""
        octaves = np.log2(np.clip(values, 2.0**_LOWEST, 2.0**_HIGHEST)) - _LOWEST
        bins = np.minimum((octaves * _BINS_PER_OCTAVE).astype(np.int64), N_BINS - 1)
        self.counts += np.bincount(bins, minlength=N_BINS)

    def quantile(self, p: float) -> float:
        """Return the quantile within 1 %, 0 for one in the lowest bin; nan without numbers."""
        total = self.counts.sum()
        if total == 0:
            return float("nan")
        found = int(np.searchsorted(np.cumsum(self.counts), p * total))
        return float(2.0 ** (_LOWEST + (found + 0.5) / _BINS_PER_OCTAVE)) if found else 0.0
