"""Random Fourier features of Laplace frequency: the Cauchy kernel."""

import math
from dataclasses import dataclass

import numpy as np

from iln_stream.features.affine import PHASE, AffineWeights, Fourier
from iln_stream.features.base import Array


@dataclass(frozen=True)
class CauchyFourier(Fourier):
    """Cosines of Laplace frequency and random phase, psi(x; w) = cos(omega.x + b).

    The entries of omega are independent and Laplace, of density exp(-|omega_j| / s) / (2 s) with
    s = sqrt(gamma), and b ~ U[0, 2 pi), so that [1]_

        E_w[psi(x; w) psi(x'; w)] = 1/2 prod_j 1 / (1 + gamma (x_j - x'_j)^2).

    The kernel is as smooth as the Gaussian near x = x' and falls off more slowly, by a power of the
    distance.

    Parameters
    ----------
    gamma
        As in `GaussianFourier`.

    References
    ----------
    .. [1] A. Rahimi, B. Recht. Random Features for Large-Scale Kernel Machines. NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import CauchyFourier
    >>> family = CauchyFourier(gamma=0.5)
    >>> X, x = np.array([[0.0, 0.0], [1.0, 1.0]]), np.zeros(2)
    >>> family.kernel(X, x).round(2)
    array([0.5 , 0.22])

    """

    def draw(self, n: int, d: int, rng: np.random.Generator) -> AffineWeights:
        """Draw n frequencies and phases for inputs of d columns."""
        omega = rng.laplace(scale=math.sqrt(self._gamma(d)), size=(n, d))
        return AffineWeights(omega, PHASE.draw(n, rng))

    def kernel(self, X: Array, x: Array) -> Array:
        """Return prod_j 1 / (1 + gamma (X_ij - x_j)^2) / 2 for every row of X, shape (n,)."""
        factors = 1.0 / (1.0 + self._gamma(len(x)) * (X - x) ** 2)
        k: Array = factors.prod(axis=1)
        return 0.5 * k
