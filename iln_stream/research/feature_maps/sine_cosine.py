"""Sine-cosine Fourier features."""

import math
from dataclasses import dataclass

import numpy as np

from iln_stream.features.affine import Fourier
from iln_stream.features.base import Array, Kernel, closed_form
from iln_stream.research.feature_maps.base import ScaledKernel


def sine_cosine(z: Array) -> Array:
    """Return (cos z, sin z) / sqrt(R) for z of shape (R,) or (n, R), twice as long."""
    phi: Array = np.concatenate([np.cos(z), np.sin(z)], axis=-1)
    phi /= math.sqrt(z.shape[-1])
    return phi


@dataclass(frozen=True, eq=False)
class DrawnFrequencies:
    """phi(x) = (cos omega.x, sin omega.x) / sqrt(R) over R frequencies."""

    omega: Array  # shape (R, d)

    @property
    def n_psi(self) -> int:
        """2 R: a sine and a cosine of each frequency."""
        return 2 * len(self.omega)

    def __call__(self, x: Array) -> Array:
        """Return phi(x): (d,) -> (2 R,), (n, d) -> (n, 2 R)."""
        return sine_cosine(x @ self.omega.T)


def half(n_features: int) -> int:
    """Return half of an even number, 2 or more."""
    if n_features != int(n_features) or n_features < 2 or n_features % 2:
        raise ValueError(
            f"n_features is {n_features!r}: it must be even and at least 2, a sine and a cosine "
            "for each frequency"
        )
    return int(n_features) // 2


@dataclass(frozen=True)
class SineCosine:
    """phi(x) = (cos omega_r.x, sin omega_r.x)_{r <= M / 2} / sqrt(M / 2).

    phi(x).phi(x') is the mean of cos(omega_r.(x - x')), so phi has norm 1, and the estimate of
    k(x, x) no variance. Near x = x' it is better than the M cosines with random phases of
    `FromFamily`; far away both have variance of about 1 / M [1]_.

    Parameters
    ----------
    family
        `GaussianFourier`, `LaplacianFourier` or `CauchyFourier`: the law of omega; its phases are
        not used.
    n_features
        M, even.

    References
    ----------
    .. [1] D. J. Sutherland, J. Schneider. On the Error of Random Fourier Features. UAI 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import LaplacianFourier
    >>> from iln_stream.research.feature_maps import SineCosine
    >>> phi = SineCosine(LaplacianFourier(), n_features=100).draw(3, np.random.default_rng(0))
    >>> x = np.array([1.0, 2.0, 3.0])
    >>> round(float(phi(x) @ phi(x)), 9)
    1.0

    """

    family: Fourier
    n_features: int

    def __post_init__(self) -> None:
        half(self.n_features)
        if not isinstance(self.family, Fourier):
            raise ValueError(
                f"family is {self.family!r}: sines and cosines need a law of frequencies, that of "
                "GaussianFourier, LaplacianFourier or CauchyFourier"
            )

    @property
    def kernel(self) -> Kernel | None:
        """Twice the family's kernel, so that k(x, x) = 1."""
        of_family = closed_form(self.family)
        return None if of_family is None else ScaledKernel(of_family, 2.0)

    def draw(self, d: int, rng: np.random.Generator) -> DrawnFrequencies:
        return DrawnFrequencies(self.family.draw(half(self.n_features), d, rng).omega)
