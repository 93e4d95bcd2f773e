"""f_t over its support, evaluated by the kernel of the hidden units."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from iln_stream.features import closed_form
from iln_stream.learners.estimators.base import Estimate, EstimatorContext
from iln_stream.learners.estimators.support import Supported


@dataclass(frozen=True)
class Exact:
    """f_t(x) = sum_i alpha_i k(x_i, x) itself, by the kernel k(x', x) = <Phi(x'), Phi(x)>.

    E has no variance. It costs O(n d) for a support of n points, and needs the kernel that the
    paper avoids. It is the reference for other estimators, and the fastest for small supports.
    Theorem 1 holds, with `budget` None, for any number of draws.

    Examples
    --------
    >>> from iln_stream import Exact, ShrinkingGradient
    >>> model = ShrinkingGradient(estimator=Exact(), step=0.5)
    >>> model.learn_one({"x": 1.0}, 1.0)
    >>> model.estimate({"x": 1.0})
    Estimate(value=0.25, standard_error=0.0, draws=0)

    """

    def start(self, given: EstimatorContext) -> "ExactIterate":
        return ExactIterate(given)


class ExactIterate(Supported):
    """Support points with their alphas, and a kernel."""

    def __init__(self, given: EstimatorContext) -> None:
        super().__init__(given)
        kernel = closed_form(given.features)
        if kernel is None:
            raise ValueError(
                f"Exact needs a family whose kernel has a closed form, not {given.features!r}: use "
                "GaussianFourier, LaplacianFourier, CauchyFourier, Erf, ArcCosine, DecisionStumps, "
                "UniformCoordinates, or a Mixture of them"
            )
        self._kernel = kernel

    def estimate(self, x: NDArray[np.float64], t: int) -> Estimate:
        """Return f_t(x)."""
        k = self._kernel(self.support.rows(len(x)), x)
        return Estimate(float(self.support.alpha @ k), 0.0, 0)

    def estimate_within(self, x: NDArray[np.float64], eps: float, delta: float, t: int) -> Estimate:
        """Return f_t(x), which is exact."""
        return self.estimate(x, t)
