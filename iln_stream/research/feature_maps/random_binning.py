"""Random binning features."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iln_stream.features.base import Array, at_least_one, positive

Words = NDArray[np.uint64]


def mix(words: Words) -> Words:
    """Return each word with its bits mixed (the finaliser of SplitMix64)."""
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


@dataclass(frozen=True, eq=False)
class DrawnGrids:
    """One feature of P grids each is +-1 / sqrt(P), that of the bin; the others are 0."""

    # pitch, shift: of the grids, shapes (P, d)
    pitch: Array
    shift: Array
    keys: Words  # of the hash, random, shape (P, d + 1)
    buckets: int  # features of each grid

    @property
    def n_psi(self) -> int:
        """P: one bin in each grid."""
        return len(self.pitch)

    def __call__(self, x: Array) -> Array:
        """Return phi(x): (d,) -> (P buckets,), (n, d) -> (n, P buckets)."""
        X, P = np.atleast_2d(x), self.n_psi
        # Bins are whole numbers but may exceed 64-bit ones; + 0.0 turns -0.0 into 0.0.
        bins = np.floor((X[:, np.newaxis] - self.shift) / self.pitch) + 0.0
        keys = self.keys[:, :-1]
        words = mix(
            (mix(bins.view(np.uint64)) * keys).sum(axis=2, dtype=np.uint64) + self.keys[:, -1]
        )
        bucket = (words >> np.uint64(1)) % np.uint64(self.buckets)
        sign = 1.0 - 2.0 * (words & np.uint64(1)).astype(float)
        phi = np.zeros((len(X), P, self.buckets))
        np.put_along_axis(
            phi,
            bucket.astype(np.int64)[..., np.newaxis],
            sign[..., np.newaxis] / math.sqrt(P),
            axis=2,
        )
        return phi.reshape(*x.shape[:-1], P * self.buckets)


@dataclass(frozen=True)
class RandomBinning:
    """Bins of P random grids, for the Laplacian kernel exp(-gamma ||x - x'||_1).

    The pitch of a grid in each column is Gamma distributed with shape 2 and scale 1 / gamma, and
    its shift uniform over the pitch: two points then share a bin with probability k(x, x') [1]_
    (Algorithm 2). Features are 1 / sqrt(P) for the bin of each grid and 0 for all other bins. There
    are endlessly many bins, so those of a grid are hashed to `buckets` features, with random signs
    that keep the estimate of the kernel unbiased when bins collide [2]_.

    Parameters
    ----------
    n_grids
        P.
    buckets
        Features of each grid: M = P buckets. Collisions add a variance of about
        1 / (P buckets).
    gamma
        Inverse width of the kernel, in (0, 1e30]. None: 1 / d.

    References
    ----------
    .. [1] A. Rahimi, B. Recht. Random Features for Large-Scale Kernel Machines. NIPS 2007.
    .. [2] K. Weinberger, A. Dasgupta, J. Langford, A. Smola, J. Attenberg. Feature Hashing for
       Large Scale Multitask Learning. ICML 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.research.feature_maps import RandomBinning
    >>> binning = RandomBinning(n_grids=4000, buckets=16, gamma=0.5)
    >>> phi = binning.draw(2, np.random.default_rng(0))
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> (phi(X) @ phi(X[0])).round(1), binning.kernel(X, X[0]).round(1)
    (array([1. , 0.4]), array([1. , 0.4]))

    """

    n_grids: int
    buckets: int = 64
    gamma: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_grids", at_least_one("n_grids", self.n_grids))
        object.__setattr__(self, "buckets", at_least_one("buckets", self.buckets))
        if self.gamma is not None:
            object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    def kernel(self, X: Array, x: Array) -> Array:
        """Return exp(-gamma ||X_i - x||_1) for every row of X, shape (n,)."""
        k: Array = np.exp(-self._gamma(len(x)) * np.abs(X - x).sum(axis=1))
        return k

    def draw(self, d: int, rng: np.random.Generator) -> DrawnGrids:
        pitch = rng.gamma(2.0, 1.0 / self._gamma(d), (self.n_grids, d))
        shift = rng.random((self.n_grids, d)) * pitch
        keys = rng.integers(2**64, size=(self.n_grids, d + 1), dtype=np.uint64)
        return DrawnGrids(pitch, shift, keys, self.buckets)

    def _gamma(self, d: int) -> float:
        return 1.0 / d if self.gamma is None else self.gamma
