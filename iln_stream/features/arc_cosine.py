"""Rectified linear units: the arc-cosine kernel."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from iln_stream.features.affine import Activation, AffineFeatures, AffineWeights
from iln_stream.features.base import Array, positive


@dataclass(frozen=True)
class ArcCosine(AffineFeatures):
    """Rectified linear units of random direction, psi(x; w) = max(0, u.z(x)).

    A point becomes z(x) = (x / max(radius, ||x||), 1) / sqrt(2), in the unit ball of d + 1
    dimensions, and u is uniform on the unit sphere there; so |psi| <= 1. Points beyond `radius`
    keep only their direction. The constant lets units bend away from the origin. With t the angle
    between z = z(x) and z' = z(x') [1]_

        E_w[psi(x; w) psi(x'; w)] = ||z|| ||z'|| (sin t + (pi - t) cos t) / (2 pi (d + 1)),

    the arc-cosine kernel of order 1, exact for every d. It falls off like 1 / d, because most u are
    nearly orthogonal to z; so the same target has a larger norm under these units than under
    cosines, and needs larger steps.

    As ridges, omega is u without its last entry and b that entry over sqrt(2); `inputs` gives
    x / (sqrt(2) max(radius, ||x||)).

    Parameters
    ----------
    radius
        Largest norm that the units distinguish, in (0, 1e30], in the inputs' units.
        None: 2 sqrt(d) with d the number of columns, twice the typical norm of standardised inputs.

    References
    ----------
    .. [1] Y. Cho, L. K. Saul. Kernel Methods for Deep Learning. NIPS 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import ArcCosine
    >>> family = ArcCosine(radius=1.0)
    >>> X, x = np.array([[1.0, 0.0], [-1.0, 0.0], [-9.0, 0.0]]), np.array([1.0, 0.0])
    >>> family.kernel(X, x).round(3)
    array([0.167, 0.053, 0.053])
    >>> w = family.draw(100_000, d=2, rng=np.random.default_rng(0))
    >>> sampled = [float(np.mean(family.psi(x_i, w) * family.psi(x, w))) for x_i in X]
    >>> np.allclose(sampled, family.kernel(X, x), atol=0.005)
    True

    """

    radius: float | None = None

    activation: ClassVar[Activation] = "relu"

    def __post_init__(self) -> None:
        if self.radius is not None:
            object.__setattr__(self, "radius", positive("radius", self.radius))

    @property
    def q(self) -> float:
        """3/16, reached at d = 1 by x = x' beyond the radius; it is less for all other d."""
        # By Cauchy-Schwarz q <= sup_x E[psi(x; w)^4] = sup ||z||^4 E[u_1^4] / 2, and in D = d + 1
        # dimensions E[u_1^4] = 3 / (D (D + 2)). d = 0 is special: there ||z||^2 = 1/2, and 1/8.
        return 3 / 16

    def draw(self, n: int, d: int, rng: np.random.Generator) -> AffineWeights:
        """Draw n directions for inputs of d columns."""
        u = rng.standard_normal((n, d + 1))
        u /= np.sqrt(np.vecdot(u, u))[:, np.newaxis]
        return AffineWeights(np.ascontiguousarray(u[:, :d]), u[:, d] * math.sqrt(0.5))

    def reach(self, d: int) -> float:
        """Return the radius for inputs of d columns."""
        return 2.0 * math.sqrt(max(d, 1)) if self.radius is None else self.radius

    def inputs(self, x: Array) -> Array:
        """Return x / (sqrt(2) max(radius, ||x||)) for x of shape (d,) or (n, d)."""
        norm = np.sqrt(np.vecdot(x, x))
        scaled: Array = x / np.maximum(self.reach(x.shape[-1]), norm)[..., np.newaxis]
        scaled *= math.sqrt(0.5)
        return scaled

    def for_columns(self, d: int) -> "ArcCosine":
        """Return the family with the radius that it has for d columns."""
        return replace(self, radius=self.reach(d))

    def kernel(self, X: Array, x: Array) -> Array:
        """Return the arc-cosine kernel of every row of X with x, shape (n,)."""
        X, x = self.inputs(X), self.inputs(x)
        # All of z except its constant, whose square is 1/2.
        norms = np.sqrt(np.vecdot(X, X) + 0.5) * np.sqrt(np.vecdot(x, x) + 0.5)
        cos = np.clip((np.vecdot(X, x) + 0.5) / norms, -1.0, 1.0)
        t = np.arccos(cos)
        k: Array = norms * (np.sin(t) + (math.pi - t) * cos)
        return k / (2.0 * math.pi * (len(x) + 1))
