"""Logistic sigmoids: units that are off or on."""

from dataclasses import dataclass
from typing import ClassVar

from iln_stream.features.affine import Activation, Sigmoidal


@dataclass(frozen=True)
class Sigmoid(Sigmoidal):
    """Units between off and on, psi(x; w) = 1 / (1 + exp(-(omega.x + b))).

    omega ~ N(0, slope^2 / d I) and b ~ N(0, bias^2), so E[psi] = 1/2 everywhere. psi is
    (1 + tanh((omega.x + b) / 2)) / 2, and the defaults are twice those of `Tanh` for the same
    shape. The kernel has no closed form.

    Parameters
    ----------
    slope, bias
        As in `Tanh`.

    Examples
    --------
    >>> import numpy as np
    >>> from iln_stream.features import Sigmoid
    >>> family = Sigmoid()
    >>> w = family.draw(100_000, d=3, rng=np.random.default_rng(0))
    >>> x, near, far = np.ones(3), np.array([0.9, 1.1, 1.0]), np.array([2.0, -2.0, 2.0])
    >>> [round(float(np.mean(family.psi(x, w) * family.psi(x_i, w))), 1) for x_i in (near, far)]
    [0.4, 0.3]

    """

    slope: float = 4.0
    bias: float = 4.0

    activation: ClassVar[Activation] = "sigmoid"

    @property
    def q(self) -> float:
        """1/2, approached by large x = x', where psi is 0 or 1 with equal chances."""
        # By Cauchy-Schwarz q <= sup_x E[psi(x; w)^4]. omega.x + b is symmetric about 0, so psi and
        # 1 - psi have the same law, and p^4 + (1 - p)^4 <= 1.
        return 0.5
