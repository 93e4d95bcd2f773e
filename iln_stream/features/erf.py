"""Error-function units: the arcsine kernel."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from iln_stream.features.affine import Activation, Sigmoidal
from iln_stream.features.base import Array


@dataclass(frozen=True)
class Erf(Sigmoidal):
    """S-shaped units, psi(x; w) = erf(omega.x + b).

    omega ~ N(0, slope^2 / d I) and b ~ N(0, bias^2), so that [1]_

        E_w[psi(x; w) psi(x'; w)]
            = 2/pi arcsin(2 c(x, x') / sqrt((1 + 2 c(x, x)) (1 + 2 c(x', x'))))

    with c(x, x') = slope^2 <x, x'> / d + bias^2, the covariance of erf's arguments.

    Far out only the direction of x matters. `Tanh` has nearly the same units but no kernel in
    closed form.

    Parameters
    ----------
    slope, bias
        As in `Tanh`.

    References
    ----------
    .. [1] C. K. I. Williams. Computation with Infinite Neural Networks. Neural Computation 10(5),
       1998.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import Erf
    >>> family = Erf()
    >>> X, x = np.array([[1.0, 1.0], [-1.0, 1.0]]), np.ones(2)
    >>> family.kernel(X, x).round(2)
    array([0.78, 0.31])

    """

    activation: ClassVar[Activation] = "erf"

    @property
    def q(self) -> float:
        """1, approached by large x = x', where psi^2 -> 1."""
        return 1.0

    def kernel(self, X: Array, x: Array) -> Array:
        """Return the arcsine kernel of every row of X with x, shape (n,)."""
        # On the scaled inputs c(x, x') is a product plus bias^2.
        scale = self.scale(len(x))
        X, x = scale * X, scale * x
        c_Xx = np.vecdot(X, x) + self.bias**2
        c_XX = np.vecdot(X, X) + self.bias**2
        c_xx = np.vecdot(x, x) + self.bias**2
        sine = 2.0 * c_Xx / (np.sqrt(1.0 + 2.0 * c_XX) * np.sqrt(1.0 + 2.0 * c_xx))
        k: Array = np.arcsin(np.clip(sine, -1.0, 1.0))  # rounding may pass 1
        return 2.0 / math.pi * k
