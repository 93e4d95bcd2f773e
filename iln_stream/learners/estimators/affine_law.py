"""A family of Gaussian ridges as arguments of compiled code."""

import math
from typing import Any, NamedTuple

from iln_stream.features import (
    AffineFeatures,
    Features,
    GaussianAffineFeatures,
    as_gaussian_ridges,
)


class AffineLaw(NamedTuple):
    """psi(x; w) = sigma(omega.x + b) with omega ~ N(0, scale^2 I).

    Parameters
    ----------
    scale
        Of omega; in turns for cosines.
    bias
        b ~ N(0, bias^2) or U[0, bias); in turns for cosines.
    normal_bias
        Whether b is normal.
    activation
        The code of sigma.

    """

    scale: float
    bias: float
    normal_bias: bool
    activation: int


def compilable(features: Features[Any]) -> GaussianAffineFeatures | None:
    """Return a family that compiled code can draw from: Gaussian ridges of x as it is."""
    family = as_gaussian_ridges(features)
    if family is None or type(family).inputs is not GaussianAffineFeatures.inputs:
        return None
    return family


def ridge_law(family: GaussianAffineFeatures, d: int) -> AffineLaw:
    """Return the law for inputs of d columns."""
    one, b = unit(family), family.b_law
    return AffineLaw(family.scale(d) / one, b.scale / one, b.name == "normal", code(family))


class LawOfColumns:
    """A family's law for inputs of d columns, cached for the last d."""

    def __init__(self, family: GaussianAffineFeatures) -> None:
        self._family = family
        self._d = -1
        self._law: AffineLaw

    def __call__(self, d: int) -> AffineLaw:
        """Return the law for inputs of d columns."""
        if d != self._d:
            self._d, self._law = d, ridge_law(self._family, d)
        return self._law

    def __reduce__(self) -> tuple[Any, ...]:
        return LawOfColumns, (self._family,)


def unit(family: AffineFeatures) -> float:
    """Return the unit of omega and b in compiled code: turns for cosines."""
    return 2.0 * math.pi if family.activation == "cos" else 1.0


def code(family: AffineFeatures) -> int:
    """Return the activation's code in compiled functions."""
    # Imported on first use: numba takes a moment to import.
    from iln_stream.compiled.activations import CODES

    return CODES[family.activation]
