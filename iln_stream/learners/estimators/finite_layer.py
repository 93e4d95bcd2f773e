"""A function as one layer of finitely many ridge units."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import (
    Activation,
    AffineFeatures,
    AffineWeights,
    ArcCosine,
    Features,
    Mixture,
    as_ridges,
)
from iln_stream.features.affine import activate


@dataclass(frozen=True, eq=False, kw_only=True)
class FiniteLayer:
    """The function z -> sum_r weights_r sigma(omega_r.z + b_r).

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.learners.estimators import FiniteLayer
    >>> layer = FiniteLayer(
    ...     activation="relu",
    ...     radius=None,
    ...     omega=np.array([[1.0], [-1.0]]),
    ...     b=np.zeros(2),
    ...     weights=np.array([1.0, 3.0]),
    ... )
    >>> layer.evaluate(np.array([[2.0], [-2.0]]))
    array([2., 6.])

    """

    activation: Activation  # the name of sigma: cos, erf, tanh, sigmoid or relu
    # if not None, the units see z / (sqrt(2) max(radius, ||z||)), like those of `ArcCosine`
    radius: float | None
    # omega, b, weights: shapes (R, d), (R,) and (R,)
    omega: NDArray[np.float64]
    b: NDArray[np.float64]
    weights: NDArray[np.float64]

    def terms(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return weights_r sigma(omega_r.z_i + b_r) at points z (n, d), shape (n, R)."""
        if self.radius is not None:
            norm = np.sqrt(np.vecdot(z, z))
            z = z / (np.sqrt(2.0) * np.maximum(norm, self.radius))[:, np.newaxis]
        a = z @ self.omega.T + self.b
        return self.weights * activate(self.activation, a.ravel()).reshape(a.shape)

    def evaluate(self, z: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of the terms at points z (n, d), shape (n,)."""
        values: NDArray[np.float64] = self.terms(z).sum(axis=1)
        return values

    def error_at(self, z: NDArray[np.float64]) -> float:
        """Return the standard error of `evaluate` due to the finite R, for units freshly drawn.

        It is the root mean square over points z (n, d); 0 without points.
        """
        if len(z) == 0:
            return 0.0
        size = len(self.weights)
        variances = [size * float(np.var(self.terms(z_i[np.newaxis]), ddof=1)) for z_i in z]
        return math.sqrt(sum(variances) / len(variances))


def layer_of(family: Features[Any], w: Any, weights: NDArray[np.float64], d: int) -> FiniteLayer:
    """Return x -> sum_r weights_r psi(x; w_r), for units w that a family drew for d columns.

    Raises
    ------
    ValueError
        When the family's units are not ridges of one kind; the message lists families that qualify.

    """
    activation, radius, (omega, b) = _ridges(family, w, d)
    return FiniteLayer(activation=activation, radius=radius, omega=omega, b=b, weights=weights)


def _ridges(
    family: Features[Any], w: Any, d: int
) -> tuple[Activation, float | None, AffineWeights]:
    """Activation, radius, and ridges of the units w."""
    if isinstance(family, Mixture):
        groups = [_ridges(group.family, group.w, d) for group in w]
        if len({group[:2] for group in groups}) > 1:
            raise ValueError(
                f"{family!r} can't be frozen: its components have different units; "
                "a mixture of one family with several bandwidths can"
            )
        omegas, bs = zip(*(ridges for _, _, ridges in groups), strict=True)
        return *groups[0][:2], AffineWeights(np.concatenate(omegas), np.concatenate(bs))
    ridges = as_ridges(family)
    if ridges is not None and type(ridges).inputs is AffineFeatures.inputs:
        return ridges.activation, None, w
    if isinstance(ridges, ArcCosine) and type(ridges).inputs is ArcCosine.inputs:
        return ridges.activation, ridges.reach(d), w
    raise ValueError(
        f"{family!r} can't be frozen: its units are not sigma(omega.x + b). Use GaussianFourier, "
        "LaplacianFourier, CauchyFourier, Erf, Tanh, Sigmoid, ArcCosine, or an AffineFeatures "
        "whose inputs are x itself"
    )
