"""Random Fourier features: the Gaussian kernel."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.features._arguments import positive


class Cosines(NamedTuple):
    """n draws of (omega, b): shapes (n, d) and (n,)."""

    omega: NDArray[np.float64]
    b: NDArray[np.float64]


@dataclass(frozen=True)
class GaussianFourier:
    """Cosines of random frequency and phase, psi(x; w) = cos(omega.x + b).

    omega ~ N(0, 2 gamma I) and b ~ U[0, 2 pi), so that [1]_

        E_w[psi(x; w) psi(x'; w)] = exp(-gamma ||x - x'||^2) / 2.

    The half is the mean of a squared cosine. It stays, because the sqrt(2) cos that is often used
    to remove it exceeds |psi| <= 1.

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

    gamma: float | None = None

    def __post_init__(self) -> None:
        if self.gamma is not None:
            object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    @property
    def q(self) -> float:
        """3/8, reached at x = x'."""
        # With a = omega.x + b, cos(a)^2 cos(a')^2 = (1 + cos 2a)(1 + cos 2a') / 4. The phase b
        # averages this to 1/4 + cos(2 (a - a')) / 8.
        return 3 / 8

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Cosines:
        """Draw n frequencies and phases for inputs of d columns."""
        omega = rng.normal(scale=math.sqrt(2.0 * self._gamma(d)), size=(n, d))
        return Cosines(omega, rng.uniform(0.0, 2.0 * math.pi, n))

    def psi(self, x: NDArray[np.float64], w: Cosines) -> NDArray[np.float64]:
        """Evaluate the cosines at x, (d,) or (n, d); shape (n,)."""
        phase: NDArray[np.float64] = np.vecdot(w.omega, x)
        phase += w.b
        np.cos(phase, out=phase)
        return phase

    def kernel(self, X: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return exp(-gamma ||X_i - x||^2) / 2 for every row of X, shape (n,)."""
        difference = X - x
        k: NDArray[np.float64] = np.vecdot(difference, difference)
        return 0.5 * np.exp(-self._gamma(len(x)) * k)

    def _gamma(self, d: int) -> float:
        return 1.0 / max(d, 1) if self.gamma is None else self.gamma
