"""Decision stumps: a kernel of clipped L1 distances."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.features.base import Array, positive
from iln_stream.features.uniform_coordinates import draw_columns, pick


class Stumps(NamedTuple):
    """n draws of (j, theta): columns and thresholds, both of shape (n,)."""

    j: NDArray[np.int64]
    theta: Array


@dataclass(frozen=True)
class DecisionStumps:
    """Thresholds on single inputs, psi(x; w) = sgn(x_j - theta) with sgn(0) = 1.

    j is uniform over the d columns and theta ~ U[-span, span). Two points disagree on a stump when
    theta falls between them, so with c clipping every input to [-span, span] [1]_

        E_w[psi(x; w) psi(x'; w)] = 1 - ||c(x) - c(x')||_1 / (span d).

    No stump distinguishes inputs beyond +-span. With no columns psi = 0.

    Parameters
    ----------
    span
        Largest threshold, in (0, 1e30], in the inputs' units. The default suits standardised
        inputs.

    References
    ----------
    .. [1] A. Rahimi, B. Recht. Weighted Sums of Random Kitchen Sinks. NIPS 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import DecisionStumps
    >>> family = DecisionStumps(span=3.0)
    >>> family.kernel(np.array([[0.0, 0.0], [9.0, 0.0]]), np.zeros(2))
    array([1. , 0.5])

    """

    span: float = 3.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "span", positive("span", self.span))

    @property
    def q(self) -> float:
        """1, since psi^2 = 1."""
        return 1.0

    def draw(self, n: int, d: int, rng: np.random.Generator) -> Stumps:
        """Draw n columns and thresholds for inputs of d columns."""
        return Stumps(draw_columns(n, d, rng), rng.uniform(-self.span, self.span, n))

    def psi(self, x: Array, w: Stumps) -> Array:
        """Evaluate the stumps at x, (d,) or (n, d); shape (n,)."""
        if x.shape[-1] == 0:
            return np.zeros(len(w.j))
        return np.where(pick(x, w.j) >= w.theta, 1.0, -1.0)

    def kernel(self, X: Array, x: Array) -> Array:
        """Return 1 - ||c(X_i) - c(x)||_1 / (span d) for every row of X, shape (n,)."""
        d = len(x)
        if d == 0:
            return np.zeros(len(X))
        c_X, c_x = np.clip(X, -self.span, self.span), np.clip(x, -self.span, self.span)
        distances: Array = np.abs(c_X - c_x).sum(axis=1)
        return 1.0 - distances / (self.span * d)
