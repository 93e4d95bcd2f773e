"""Feature maps of families of hidden units."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from iln_stream.features.affine import activate, as_ridges
from iln_stream.features.base import Array, Features, Kernel, at_least_one, closed_form, positive
from iln_stream.features.decision_stumps import Stumps
from iln_stream.research.feature_maps.base import ScaledKernel


@dataclass(frozen=True, eq=False)
class DrawnUnits:
    """phi(x) = factor (psi(x; w_1), .., psi(x; w_M))."""

    family: Features[Any]  # the family of psi
    w: Any  # its M draws
    n_psi: int  # M
    factor: float  # of all features

    def __call__(self, x: Array) -> Array:
        """Return phi(x): (d,) -> (M,), (n, d) -> (n, M)."""
        if x.ndim == 1:
            return self.factor * self.family.psi(x, self.w)
        if isinstance(self.w, Stumps) and x.shape[1]:
            return self.factor * np.where(x[:, self.w.j] >= self.w.theta, 1.0, -1.0)
        ridges = as_ridges(self.family)
        if ridges is None:
            psi = np.array([self.family.psi(x_i, self.w) for x_i in x])
            return self.factor * psi.reshape(len(x), self.n_psi)
        z = ridges.inputs(x) @ self.w.omega.T + self.w.b
        return self.factor * activate(ridges.activation, z.ravel()).reshape(z.shape)


@dataclass(frozen=True)
class FromFamily:
    """phi(x) = scale / sqrt(M) (psi(x; w_1), .., psi(x; w_M)), w_r ~ mu independent.

    So E[phi(x).phi(x')] = scale^2 E_w[psi(x; w) psi(x'; w)]. With `GaussianFourier`,
    `LaplacianFourier` or `CauchyFourier` and scale sqrt(2) these are the cosine Fourier features
    of a kernel with k(x, x) = 1 [1]_.

    Parameters
    ----------
    family
        mu and psi.
    n_features
        M.
    scale
        In (0, 1e30].

    References
    ----------
    .. [1] A. Rahimi, B. Recht. Random Features for Large-Scale Kernel Machines. NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import GaussianFourier
    >>> from iln_stream.research.feature_maps import FromFamily
    >>> fourier = FromFamily(GaussianFourier(gamma=0.5), n_features=10_000, scale=np.sqrt(2))
    >>> phi = fourier.draw(2, np.random.default_rng(0))
    >>> X = np.array([[0.0, 0.0], [1.0, 1.0]])
    >>> (phi(X) @ phi(X[1])).round(1), fourier.kernel(X, X[1]).round(1)
    (array([0.4, 1. ]), array([0.4, 1. ]))

    """

    family: Features[Any]
    n_features: int
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_features", at_least_one("n_features", self.n_features))
        object.__setattr__(self, "scale", positive("scale", self.scale))

    @property
    def kernel(self) -> Kernel | None:
        """scale^2 times the family's kernel, if that has a closed form."""
        of_family = closed_form(self.family)
        return None if of_family is None else ScaledKernel(of_family, self.scale**2)

    def draw(self, d: int, rng: np.random.Generator) -> DrawnUnits:
        w = self.family.draw(self.n_features, d, rng)
        factor = self.scale / math.sqrt(self.n_features)
        return DrawnUnits(self.family, w, self.n_features, factor)
