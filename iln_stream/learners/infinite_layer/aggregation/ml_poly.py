"""Combining the experts' predictions into one."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.ml_poly import DISCOUNT, WEIGHT, mixed, mixed_of, update_rule
from iln_stream.learners.infinite_layer.part import Part


class MLPoly(Part):
    r"""ML-Poly: a second-order aggregation with no learning rate to tune [^1].

    Expert k weighs $w_k \propto (R_k)_+ / (V_k + B)$: $R_k$ its regret, the sum of
    $r_k = \ell'(\hat y) (\hat y - p_k)$, $V_k$ the sum of $r_k^2$ and $B$ the largest. With
    discount 1 and |r| <= c, none of them clipped, the loss of the mixture exceeds that of expert k
    by at most $O(\sqrt{K V_k \log T} + c K \log T)$, for any data (Gaillard et al., Theorem 5 up
    to constants): an expert that agrees with the mixture costs nothing.

    Here the discount is .999, so that the rule follows changes, and regrets are clipped at +-2
    ordinary errors, so that an outlier decides nothing. No bound holds then: data can be made on
    which the mixture's loss stays above the best expert's.

    Parameters
    ----------
    n_experts
        K.
    squared
        Whether to minimise squared errors; otherwise absolute ones.

    References
    ----------
    [^1]: P. Gaillard, G. Stoltz, T. van Erven. A second-order bound with excess losses. COLT 2014.

    """

    kept = fixed = ("table", "record")

    def __init__(self, n_experts: int, *, squared: bool) -> None:
        self.squared = squared
        self.table = np.zeros((4, n_experts))
        self.record = np.zeros(2)  # events scored, mean |error| of the mixture over about 1000
        self.reinitialise(())

    @property
    def weights(self) -> NDArray[np.float64]:
        """The experts' weights, (K,), which sum to one."""
        weights: NDArray[np.float64] = self.table[WEIGHT]
        return weights

    def mixed(self, p: NDArray[np.float64]) -> float:
        """Return the weighted mean of the experts' predictions p (K,)."""
        return mixed(self.table, p)  # type: ignore[no-any-return]

    def mixed_of(self, p: NDArray[np.float64], counts: NDArray[np.bool_]) -> float:
        """Return the weighted mean of those p (K,) that count; write it to the others."""
        return mixed_of(self.table, p, counts)  # type: ignore[no-any-return]

    def learn(self, p: NDArray[np.float64], mixture: float, t: float, w: float = 1.0) -> None:
        """Score the predictions p (K,) and their mixture by the target t, whose weight is w."""
        update_rule(self.table, self.record, p, mixture, t, w, self.squared, DISCOUNT)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget all regrets: the experts weigh the same."""
        self.table[:] = 0.0
        self.table[WEIGHT] = 1.0 / self.table.shape[1]
        self.record[:] = 0.0
