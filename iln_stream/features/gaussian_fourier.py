"""Random Fourier features: the Gaussian kernel."""

import math
from dataclasses import dataclass

import numpy as np

from iln_stream.features.affine import PHASE, BiasLaw, Fourier, GaussianAffineFeatures
from iln_stream.features.base import Array


@dataclass(frozen=True)
class GaussianFourier(Fourier, GaussianAffineFeatures):
    """Cosines of random frequency and phase, psi(x; w) = cos(omega.x + b).

    omega ~ N(0, 2 gamma I) and b ~ U[0, 2 pi), so that [1]_

        E_w[psi(x; w) psi(x'; w)] = exp(-gamma ||x - x'||^2) / 2.

    The half is the mean of a squared cosine. It is kept, because sqrt(2) cos, often used to remove
    it, violates |psi| <= 1.

    Parameters
    ----------
    gamma
        Inverse squared width of the kernel, in (0, 1e30], in the inputs' units to the power -2.
        None: 1 / d with d the number of columns, which suits standardised inputs.

    References
    ----------
    .. [1] A. Rahimi, B. Recht. Random Features for Large-Scale Kernel Machines. NIPS 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import GaussianFourier
    >>> family = GaussianFourier(gamma=0.5)
    >>> X, x = np.array([[0.0, 0.0], [1.0, 1.0]]), np.zeros(2)
    >>> family.kernel(X, x).round(2)
    array([0.5 , 0.18])
    >>> w = family.draw(100_000, d=2, rng=np.random.default_rng(0))
    >>> sampled = [float(np.mean(family.psi(x_i, w) * family.psi(x, w))) for x_i in X]
    >>> np.allclose(sampled, family.kernel(X, x), atol=0.01)
    True

    """

    @property
    def b_law(self) -> BiasLaw:
        """U[0, 2 pi)."""
        return PHASE

    def scale(self, d: int) -> float:
        """Return sqrt(2 gamma), the standard deviation of omega's entries."""
        return math.sqrt(2.0 * self._gamma(d))

    def kernel(self, X: Array, x: Array) -> Array:
        """Return exp(-gamma ||X_i - x||^2) / 2 for every row of X, shape (n,)."""
        difference = X - x
        k: Array = np.vecdot(difference, difference)
        return 0.5 * np.exp(-self._gamma(len(x)) * k)
