"""Common base of maps whose kernel is the Gaussian one."""

import math
from dataclasses import dataclass

import numpy as np

from iln_stream.features.base import Array, positive
from iln_stream.research.feature_maps.sine_cosine import half


@dataclass(frozen=True)
class GaussianMap:
    """M features with the kernel exp(-gamma ||x - x'||^2); gamma None is 1 / d."""

    n_features: int
    gamma: float | None = None

    def __post_init__(self) -> None:
        half(self.n_features)
        if self.gamma is not None:
            object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    def kernel(self, X: Array, x: Array) -> Array:
        """Return exp(-gamma ||X_i - x||^2) for every row of X, shape (n,)."""
        difference = X - x
        k: Array = np.exp(-self._gamma(len(x)) * np.vecdot(difference, difference))
        return k

    def _gamma(self, d: int) -> float:
        return 1.0 / d if self.gamma is None else self.gamma

    def _scale(self, d: int) -> float:
        """Return the standard deviation of the entries of omega."""
        return math.sqrt(2.0 * self._gamma(d))
