"""A correction of a mixture of probabilities, by all experts at once."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import stacked_correction as kernels
from iln_stream.compiled.stacked_correction import PRECISION
from iln_stream.learners.infinite_layer.part import Part

Matrix = NDArray[np.float64]


class StackedCorrection(Part):
    """Multiplies a mixture P by powers of the experts' ratios p_k / P.

    The powers w start at 0 and follow the log loss by Newton steps: multinomial logistic regression
    on log p_k - log P, with a Gaussian prior, and forgetting .999. A mean of probabilities is as
    sure as its experts are on average; several that agree deserve more, and one that exaggerates
    less.

    Parameters
    ----------
    members
        Indices of the experts that take part, (m,).

    """

    kept = fixed = ("weights", "covariance")

    def __init__(self, members: Sequence[int]) -> None:
        m = len(members)
        self.members = np.array(members, np.int64)
        self.weights = np.zeros(m)
        self.covariance = np.eye(m) / PRECISION
        self._ratios = np.zeros((m, 0))

    def correct(self, p: Matrix, base: Matrix, corrected: Matrix) -> None:
        """Write the correction of the base (C,) by the experts' p (K, C); all are positive."""
        if self._ratios.shape[1] != len(base):
            self._ratios = np.zeros((len(self.members), len(base)))
        kernels.correct(self.weights, p, self.members, base, self._ratios, corrected)

    def learn(self, corrected: Matrix, label: int, w: float = 1.0) -> None:
        """Learn the class that was observed, where the last correction was `corrected` (C,).

        w is the event's weight.
        """
        kernels.newton_step(self.weights, self.covariance, self._ratios, corrected, label, w)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Correct nothing, as at first."""
        self.weights[:] = 0.0
        self.covariance[:] = np.eye(len(self.weights)) / PRECISION
