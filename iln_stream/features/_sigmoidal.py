"""Common base of the families of S-shaped units."""

import math
from dataclasses import dataclass

from iln_stream.features._arguments import positive
from iln_stream.features.affine import BiasLaw, GaussianAffineFeatures


@dataclass(frozen=True)
class Sigmoidal(GaussianAffineFeatures):
    """psi(x; w) = sigma(omega.x + b) with omega ~ N(0, slope^2 / d I) and b ~ N(0, bias^2)."""

    slope: float = 2.0
    bias: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "slope", positive("slope", self.slope))
        object.__setattr__(self, "bias", positive("bias", self.bias))

    @property
    def b_law(self) -> BiasLaw:
        """N(0, bias^2)."""
        return BiasLaw("normal", self.bias)

    def scale(self, d: int) -> float:
        """Return slope / sqrt(d), the standard deviation of omega's entries."""
        return self.slope / math.sqrt(max(d, 1))
