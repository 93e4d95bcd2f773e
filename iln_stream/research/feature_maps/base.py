"""The interface of a feature map."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from iln_stream.features.base import Array, Kernel


@dataclass(frozen=True)
class ScaledKernel:
    """A kernel times a factor."""

    kernel: Kernel
    factor: float

    def __call__(self, X: Array, x: Array) -> Array:
        """Return factor k(X_i, x) for every row of X, shape (n,)."""
        return self.factor * self.kernel(X, x)


class DrawnMap(Protocol):
    """phi: R^d -> R^M with its randomness drawn."""

    @property
    def n_psi(self) -> int:
        """Evaluations of hidden units that phi(x) costs for one x."""

    def __call__(self, x: Array) -> Array:
        """Return phi(x): (d,) -> (M,), (n, d) -> (n, M)."""


@runtime_checkable
class FeatureMap(Protocol):
    """A law of maps phi with E[phi(x).phi(x')] = k(x, x').

    Instances keep no state: the same rng gives the same map.
    """

    @property
    def kernel(self) -> Kernel | None:
        """k, called with X (n, d) and x (d,), in closed form; None if it has none."""

    def draw(self, d: int, rng: np.random.Generator) -> DrawnMap:
        """Draw a map for inputs of d >= 1 columns."""
