"""Kernel SGD with a budget of support vectors."""

from collections.abc import Callable, Iterator
from typing import Any

from iln_stream.learners import validation
from iln_stream.related.budget_maintenance import merge, project, remove_smallest
from iln_stream.related.kernel_expansion import KernelExpansion
from iln_stream.related.kernel_pegasos import KernelPegasos

_MAINTENANCE: dict[str, Callable[[KernelExpansion], float]] = {
    "removal": remove_smallest,
    "projection": project,
    "merging": merge,
}


class BudgetedKernelSGD(KernelPegasos):
    r"""Support vector machine with a Gaussian kernel and at most B support vectors (BSGD).

    Takes the steps of `KernelPegasos`, one an event, and whenever there are more than B support
    vectors, makes f one term shorter [^1]. Memory and the time of an event are bounded:

    - "removal" drops the support vector with the smallest coefficient, O(B d); in Pegasos' steps
      all are equal up to rounding, and the oldest goes;
    - "projection" drops the one that costs least when the others take up its share by least
      squares, O(B^3), because the Gram matrix is inverted anew;
    - "merging" replaces the one with the smallest coefficient and another of its class by one
      between them, O(B d).

    `degradation` is the source's mean $\bar E$ of $\|\Delta_t\| / \eta_t$ over the steps, which
    bounds how far the result is from the optimum (its Theorem 1).

    Parameters
    ----------
    lam
        $\lambda$ of the objective, the strength of the regularisation.
    gamma
        Inverse squared width of the kernel exp(-gamma ||x - x'||^2).
    budget
        B, the most support points.
    maintenance
        "removal", "projection" or "merging".
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.related import BudgetedKernelSGD

    >>> model = preprocessing.StandardScaler() | BudgetedKernelSGD(lam=0.01, budget=50)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 8...%
    >>> model["BudgetedKernelSGD"].n_support
    50

    References
    ----------
    [^1]: Z. Wang, K. Crammer, S. Vucetic. Breaking the Curse of Kernelization: Budgeted Stochastic
    Gradient Descent for Large-Scale SVM Training. JMLR 13, 2012.

    """

    def __init__(
        self,
        lam: float = 1e-3,
        gamma: float = 0.1,
        budget: int = 200,
        maintenance: str = "merging",
        max_columns: int = 10_000,
    ) -> None:
        super().__init__(lam, gamma, max_columns=max_columns)
        validation.require_counts(budget=budget)
        validation.require_choice(tuple(_MAINTENANCE), maintenance=maintenance)
        self.budget = budget
        self.maintenance = maintenance
        self._sum_of_errors = 0.0

    @property
    def degradation(self) -> float:
        """Mean of ||Delta_t|| / eta_t over the steps."""
        return self._sum_of_errors / max(self._n_seen, 1)

    def _step(self, t: int) -> None:
        super()._step(t)
        while len(self._f) > self.budget:
            squared = _MAINTENANCE[self.maintenance](self._f)
            self._sum_of_errors += squared**0.5 * self.lam * t

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        for maintenance in _MAINTENANCE:
            yield {"budget": 20, "maintenance": maintenance}
