"""Hyperbolic tangents: the units of a classical network."""

from dataclasses import dataclass
from typing import ClassVar

from iln_stream.features.affine import Activation, Sigmoidal


@dataclass(frozen=True)
class Tanh(Sigmoidal):
    """S-shaped units, psi(x; w) = tanh(omega.x + b).

    omega ~ N(0, slope^2 / d I) and b ~ N(0, bias^2). The kernel has no closed form; that of `Erf`,
    of nearly the same shape, has one.

    Parameters
    ----------
    slope
        Standard deviation of omega.x for inputs of mean square 1, in (0, 1e30]. Small: nearly
        linear in x; large: nearly steps. The default suits standardised inputs.
    bias
        Standard deviation of b, in (0, 1e30]. Steps lie at distances of about bias / slope from
        the origin, in standardised units; by default over all of the data.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import Tanh
    >>> family = Tanh()
    >>> w = family.draw(100_000, d=3, rng=np.random.default_rng(0))
    >>> x, near, far = np.ones(3), np.array([0.9, 1.1, 1.0]), np.array([2.0, -2.0, 2.0])
    >>> [round(float(np.mean(family.psi(x, w) * family.psi(x_i, w))), 1) for x_i in (near, far)]
    [0.7, 0.3]

    """

    activation: ClassVar[Activation] = "tanh"

    @property
    def q(self) -> float:
        """1, approached by large x = x', where psi^2 -> 1."""
        return 1.0
