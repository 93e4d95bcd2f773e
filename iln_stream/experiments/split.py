"""Training and test data."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """Training and test data.

    Parameters
    ----------
    X, y
        Training inputs (n, d) and their targets or signs (n,).
    Z, labels
        Test inputs (m, d) and their targets or signs (m,).
    source
        Where they come from, in words.

    """

    X: Array
    y: Array
    Z: Array
    labels: Array
    source: str

    def first(self, n: int, m: int) -> "Split":
        """Return the first n training and m test examples."""
        return Split(self.X[:n], self.y[:n], self.Z[:m], self.labels[:m], self.source)
