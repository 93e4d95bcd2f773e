"""Combining the experts' probabilities into one."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.part import Part


class BayesMixture(Part):
    """Weighs experts by the probability that they gave to the observed class (Bayes' rule).

    With discount 1 the mixture's summed log-loss exceeds that of the best of N experts by at most
    log N, for any data. With discount < 1 it follows a change of the best expert, and there is no
    such bound: with .998 and 17 experts an excess of 193 was observed.

    Parameters
    ----------
    n_experts
        N.
    discount
        Factor by which past log-losses are discounted at each event.

    """

    kept = fixed = ("log_weights",)

    def __init__(self, n_experts: int, discount: float = 0.998) -> None:
        self.discount = discount
        self.log_weights = np.zeros(n_experts)

    @property
    def weights(self) -> NDArray[np.float64]:
        """The experts' weights, (N,), which sum to one."""
        w = np.exp(self.log_weights - self.log_weights.max())
        weights: NDArray[np.float64] = w / w.sum()
        return weights

    def learn(self, probabilities: NDArray[np.float64], w: float = 1.0) -> None:
        """Score the experts by the positive probabilities (N,) they gave to the observed class.

        Its log-losses have the weight w.
        """
        self.log_weights *= self.discount
        self.log_weights += w * np.log(probabilities)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget the past: the experts weigh the same."""
        self.log_weights[:] = 0.0
