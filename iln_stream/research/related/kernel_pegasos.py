"""Pegasos with a kernel."""

from collections.abc import Iterator, Mapping
from math import sqrt
from typing import Any

import numpy as np

from iln_stream.learners.checks import require_counts, require_positive
from iln_stream.research.related.base import Array, MarginClassifier, sign_of
from iln_stream.research.related.kernel_expansion import KernelModel, gaussian_kernel


class KernelPegasos(KernelModel, MarginClassifier):
    r"""Support vector machine with the Gaussian kernel by stochastic sub-gradient steps.

    Minimises $\frac\lambda2 \|f\|^2 + \mathrm{mean}_i \max(0, 1 - y_i f(x_i))$, as `Pegasos` does
    for a linear f [^1] (Figure 3). With $\eta_t = 1 / (\lambda t)$, step t is

    1. $f \leftarrow (1 - \eta_t \lambda) f + \frac{\eta_t}{k} \sum_{i \in A_t:\, y_i f_t(x_i) < 1}
       y_i k(x_i, \cdot)$;
    2. if `project`, $f \leftarrow \min(1, \frac{1 / \sqrt\lambda}{\|f\|}) f$.

    The source counts in $\alpha_j$ how often it drew example j from a training set; here each event
    inside the margin becomes a support vector of its own. So the number of support vectors, the
    memory and the time of an event grow with the stream: see `BudgetedKernelSGD`.

    Parameters
    ----------
    lam
        $\lambda$, the strength of the regularisation.
    gamma
        Inverse squared width of the kernel exp(-gamma ||x - x'||^2).
    batch
        k, the events of one step.
    project
        Whether to project onto the ball that contains the optimum.
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.research.related import KernelPegasos

    >>> model = preprocessing.StandardScaler() | KernelPegasos(lam=0.01)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 8...%

    References
    ----------
    [^1]: S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter. Pegasos: Primal Estimated sub-GrAdient
    SOlver for SVM. Mathematical Programming 127, 2011.

    """

    def __init__(
        self,
        lam: float = 1e-3,
        gamma: float = 0.1,
        batch: int = 1,
        project: bool = False,
        max_columns: int = 10_000,
    ) -> None:
        super().__init__(gamma, max_columns)
        require_positive(lam=lam)
        require_counts(batch=batch)
        self.lam = lam
        self.batch = batch
        self.project = project
        self._n_seen = 0
        self._violators: list[tuple[Array, float, float]] = []  # x, y, f_t(x)
        self._squared_norm = 0.0  # of f, if projected

    def learn_one(self, x: Mapping[Any, float], y: Any) -> None:
        """Take the event into the batch; at its end, take a step."""
        sign = sign_of(y)
        row = self._columns.learn(x)
        decision = self._f(row)
        if sign * decision < 1.0:
            self._violators.append((row, sign, decision))
        self._n_seen += 1
        if self._n_seen % self.batch == 0:
            self._step(self._n_seen // self.batch)
            self._violators = []

    def _step(self, t: int) -> None:
        decay, rate = 1.0 - 1.0 / t, 1.0 / (self.lam * t * self.batch)
        self._f.scale(decay)
        for row, sign, _ in self._violators:
            self._f.append(row, rate * sign)
        if self.project:
            self._project(decay, rate)

    def _project(self, decay: float, rate: float) -> None:
        """Keep ||f|| <= 1 / sqrt(lambda); the norm follows from those of the step's parts."""
        product, squares = 0.0, 0.0
        if self._violators:
            added = self._f.points[-len(self._violators) :]
            signs = np.array([sign for _, sign, _ in self._violators])
            product = sum(sign * decision for _, sign, decision in self._violators)
            squares = float(signs @ gaussian_kernel(added, added, self.gamma) @ signs)
        self._squared_norm = (
            decay**2 * self._squared_norm + 2 * decay * rate * product + rate**2 * squares
        )
        if (excess := self._squared_norm * self.lam) > 1.0:
            self._f.scale(1.0 / sqrt(excess))
            self._squared_norm = 1.0 / self.lam

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"batch": 5, "project": True}
