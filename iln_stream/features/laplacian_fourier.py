"""Random Fourier features of Cauchy frequency: the Laplacian kernel."""

import math
from dataclasses import dataclass

import numpy as np

from iln_stream.features.affine import PHASE, AffineWeights, Fourier
from iln_stream.features.base import Array


@dataclass(frozen=True)
class LaplacianFourier(Fourier):
    """Cosines whose frequencies have heavy tails, psi(x; w) = cos(omega.x + b).

    The entries of omega are independent and Cauchy, of density gamma / (pi (gamma^2 + omega_j^2)),
    and b ~ U[0, 2 pi), so that [1]_

        E_w[psi(x; w) psi(x'; w)] = exp(-gamma ||x - x'||_1) / 2.

    The kernel has a kink at x = x' and so suits rougher targets than the Gaussian.

    Frequencies have no mean and are occasionally huge: |omega_j| > r gamma with probability about
    2 / (pi r). psi stays within [-1, 1] for them and for any input, but a phase of size p is
    rounded by about 1e-16 p: beyond 1e15 it is effectively random. This affects inputs of moderate
    size in about one draw in 1e15, inputs near 1e15 in most draws.

    Parameters
    ----------
    gamma
        Inverse width of the kernel, in (0, 1e30], in the inputs' units to the power -1. None: 1 / d
        with d the number of columns, which suits standardised inputs.

    References
    ----------
    .. [1] A. Rahimi, B. Recht. Random Features for Large-Scale Kernel Machines. NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import LaplacianFourier
    >>> family = LaplacianFourier(gamma=0.5)
    >>> X, x = np.array([[0.0, 0.0], [1.0, 1.0]]), np.zeros(2)
    >>> family.kernel(X, x).round(2)
    array([0.5 , 0.18])

    """

    def draw(self, n: int, d: int, rng: np.random.Generator) -> AffineWeights:
        """Draw n frequencies and phases for inputs of d columns."""
        # Finite for every u in [0, 1): the tangent of the float nearest -pi/2 is -1.6e16. Half the
        # time of rng.standard_cauchy, a ratio of normals that can be infinite.
        omega = np.tan(math.pi * (rng.random((n, d)) - 0.5))
        omega *= self._gamma(d)
        return AffineWeights(omega, PHASE.draw(n, rng))

    def kernel(self, X: Array, x: Array) -> Array:
        """Return exp(-gamma ||X_i - x||_1) / 2 for every row of X, shape (n,)."""
        distances: Array = np.abs(X - x).sum(axis=1)
        return 0.5 * np.exp(-self._gamma(len(x)) * distances)
