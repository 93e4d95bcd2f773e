"""Fastfood features."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iln_stream.features.base import Array
from iln_stream.research.feature_maps.gaussian import GaussianMap
from iln_stream.research.feature_maps.sine_cosine import half, sine_cosine


def hadamard(X: Array) -> Array:
    """Return H X_i for the last axis of X, 2^k long, with H the +-1 Walsh-Hadamard matrix."""
    d = X.shape[-1]
    step = 1
    while step < d:
        pairs = X.reshape(*X.shape[:-1], d // (2 * step), 2, step)
        a, b = pairs[..., 0, :], pairs[..., 1, :]
        X = np.stack([a + b, a - b], axis=-2).reshape(X.shape)
        step *= 2
    return X


@dataclass(frozen=True, eq=False)
class DrawnFastfood:
    """Sines and cosines of R frequencies, the rows of blocks S H G P H B."""

    R: int  # number of frequencies
    signs: Array  # B: +-1, shape (blocks, D), D the number of columns rounded up to a power of 2
    order: NDArray[np.int64]  # P: a permutation in each block, shape (blocks, D)
    gauss: Array  # G, shape (blocks, D)
    lengths: Array  # S, with all constants, shape (blocks, D)

    @property
    def n_psi(self) -> int:
        """2 R: a sine and a cosine of each frequency."""
        return 2 * self.R

    def __call__(self, x: Array) -> Array:
        """Return phi(x): (d,) -> (2 R,), (n, d) -> (n, 2 R)."""
        D = self.signs.shape[1]
        padded = np.zeros((*x.shape[:-1], 1, D))
        padded[..., 0, : x.shape[-1]] = x
        mixed = hadamard(padded * self.signs)  # (.., blocks, D)
        order = np.broadcast_to(self.order, mixed.shape)
        mixed = hadamard(np.take_along_axis(mixed, order, axis=-1) * self.gauss) * self.lengths
        return sine_cosine(mixed.reshape(*x.shape[:-1], self.signs.size)[..., : self.R])


@dataclass(frozen=True)
class Fastfood(GaussianMap):
    """Sine-cosine features in O(M log d) instead of O(M d) operations, and O(M) memory.

    D frequencies at a time, D = d rounded up to a power of 2, are rows of

        V = sqrt(2 gamma / D) S H G P H B,

    with B random signs, P a permutation, G ~ N(0, 1) on the diagonal, H the Walsh-Hadamard matrix
    and S_ii = s_i / ||G||, s_i of the chi distribution with D degrees of freedom [1]_. Each
    frequency alone is Gaussian, so the estimate of the kernel is unbiased; the frequencies of one
    block depend on each other.

    Parameters
    ----------
    n_features
        M, even: M / 2 frequencies.
    gamma
        Inverse squared width of the kernel exp(-gamma ||x - x'||^2), in (0, 1e30]. None: 1 / d.

    References
    ----------
    .. [1] Q. Le, T. Sarlos, A. Smola. Fastfood: Approximating Kernel Expansions in Loglinear Time.
       ICML 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.research.feature_maps import Fastfood
    >>> fastfood = Fastfood(n_features=4096, gamma=0.1)
    >>> phi = fastfood.draw(5, np.random.default_rng(0))
    >>> X = np.array([[0.0, 0.0, 0.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0, 1.0]])
    >>> (phi(X) @ phi(X[0])).round(1), fastfood.kernel(X, X[0]).round(1)
    (array([1. , 0.4]), array([1. , 0.4]))

    """

    def draw(self, d: int, rng: np.random.Generator) -> DrawnFastfood:
        """Draw a map for inputs of d columns."""
        R, D = half(self.n_features), 1 << (d - 1).bit_length()
        shape = -(-R // D), D
        signs = rng.choice([-1.0, 1.0], shape)
        order = rng.permuted(np.tile(np.arange(D), (shape[0], 1)), axis=1)
        gauss = rng.standard_normal(shape)
        lengths = np.sqrt(rng.chisquare(D, shape)) * (self._scale(d) / math.sqrt(D))
        lengths /= np.sqrt(np.vecdot(gauss, gauss))[:, np.newaxis]
        return DrawnFastfood(R, signs, order, gauss, lengths)
