"""ML-Poly over experts that predict probabilities."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import log_loss_rule as kernels
from iln_stream.compiled.ml_poly import WEIGHT
from iln_stream.learners.infinite_layer.part import Part

Matrix = NDArray[np.float64]


class LogLossRule(Part):
    """Mixes probabilities, weighting each expert by its positive regret; no learning rate.

    ML-Poly [^1] on the linearised log loss, with a discount of .999: the regret to an expert that
    gave the observed class the probability p, where the mixture gave it q, is p / q - 1.

    Parameters
    ----------
    n_experts
        K.

    References
    ----------
    [^1]: P. Gaillard, G. Stoltz, T. van Erven. A second-order bound with excess losses. COLT 2014.

    """

    kept = fixed = ("table",)

    def __init__(self, n_experts: int) -> None:
        self.table = np.zeros((4, n_experts))
        self.reinitialise(())

    @property
    def weights(self) -> NDArray[np.float64]:
        """The experts' weights, (K,), which sum to one."""
        weights: NDArray[np.float64] = self.table[WEIGHT]
        return weights

    def mix(self, p: Matrix, n_awake: int, mixture: Matrix) -> None:
        """Write the weighted mean of p (K, C) to the mixture (C,).

        The experts after the first `n_awake` adopt the mixture of these, and so have no regret.
        """
        kernels.mix(self.table, p, n_awake, mixture)

    def learn(self, p: Matrix, mixture: Matrix, label: int, w: float = 1.0) -> None:
        """Score the experts' p (K, C) by the class that was observed, with weight w."""
        kernels.score(self.table, p, mixture, label, w)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget all regrets: the experts weigh the same."""
        self.table[:] = 0.0
        self.table[WEIGHT] = 1.0 / self.table.shape[1]
