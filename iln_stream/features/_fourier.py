"""Common base of the families of random cosines."""

from dataclasses import dataclass
from typing import ClassVar

from iln_stream.features._arguments import positive
from iln_stream.features.affine import Activation, AffineFeatures


@dataclass(frozen=True)
class Fourier(AffineFeatures):
    """psi(x; w) = cos(omega.x + b) with b ~ `PHASE`; gamma sets the width of omega."""

    gamma: float | None = None

    activation: ClassVar[Activation] = "cos"

    def __post_init__(self) -> None:
        if self.gamma is not None:
            object.__setattr__(self, "gamma", positive("gamma", self.gamma))

    @property
    def q(self) -> float:
        """3/8, reached at x = x'."""
        # With a = omega.x + b, cos(a)^2 cos(a')^2 = (1 + cos 2a)(1 + cos 2a') / 4. The phase b
        # averages this to 1/4 + cos(2 (a - a')) / 8, for any law of omega.
        return 3 / 8

    def _gamma(self, d: int) -> float:
        return 1.0 / max(d, 1) if self.gamma is None else self.gamma
