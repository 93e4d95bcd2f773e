"""Random columns, for units that use one coordinate only."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iln_stream.features.base import Array


def draw_columns(n: int, d: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw n columns, uniform over 0..d-1 (if d = 0: zeros, which are never used)."""
    return rng.integers(max(d, 1), size=n)


def pick(x: Array, j: NDArray[np.int64]) -> Array:
    """Return x_j for one point x (d,), or the k-th point's x_{j_k} for points x (n, d)."""
    return x[j] if x.ndim == 1 else x[np.arange(len(j)), j]


@dataclass(frozen=True)
class UniformCoordinates:
    """The inputs themselves, psi(x; w) = c(x_w) with c clipping to [-1, 1].

    w is uniform over the d columns, so

        E_w[psi(x; w) psi(x'; w)] = <c(x), c(x')> / d.

    This is the family of Section 6 of [1]_, where inputs are Gaussian, clipped only at zero: there
    psi exceeds 1 and Theorem 1 does not apply. Scale inputs into [-1, 1] to avoid clipping. With no
    columns psi = 0.

    References
    ----------
    .. [1] R. Livni, D. Carmon, A. Globerson. Learning Infinite Layer Networks Without the Kernel
       Trick. ICML 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import UniformCoordinates
    >>> family = UniformCoordinates()
    >>> family.kernel(np.array([[1.0, 0.0], [5.0, -1.0]]), np.array([0.5, 0.5]))
    array([0.25, 0.  ])

    """

    @property
    def q(self) -> float:
        """1, reached where every input is +-1."""
        return 1.0

    def draw(self, n: int, d: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw n columns for inputs of d columns."""
        return draw_columns(n, d, rng)

    def psi(self, x: Array, w: NDArray[np.int64]) -> Array:
        """Evaluate the coordinates at x, (d,) or (n, d); shape (n,)."""
        if x.shape[-1] == 0:
            return np.zeros(len(w))
        return np.clip(pick(x, w), -1.0, 1.0)

    def kernel(self, X: Array, x: Array) -> Array:
        """Return <c(X_i), c(x)> / d for every row of X, shape (n,)."""
        products: Array = np.vecdot(np.clip(X, -1.0, 1.0), np.clip(x, -1.0, 1.0))
        return products / max(len(x), 1)
