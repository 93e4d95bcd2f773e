"""Pegasos, the linear one."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from math import sqrt
from typing import Any

from river import base

from iln_stream.learners.checks import require_counts, require_positive
from iln_stream.research.related.base import SMALLEST_SCALE, require_finite, sign_of


class Pegasos(base.Classifier):
    r"""Linear support vector machine by stochastic sub-gradient steps.

    Minimises $\frac\lambda2 \|w\|^2 + \mathrm{mean}_i \max(0, 1 - y_i \langle w, x_i \rangle)$,
    $y \in \{-1, +1\}$. Step t, on the k events $A_t$ that arrived since the last one [^1] (Figures
    1 and 2), with $\eta_t = 1 / (\lambda t)$:

    1. $w \leftarrow (1 - \eta_t \lambda) w + \frac{\eta_t}{k} \sum_{i \in A_t:\, y_i \langle w_t,
       x_i \rangle < 1} y_i x_i$;
    2. if `project`, $w \leftarrow \min(1, \frac{1 / \sqrt\lambda}{\|w\|}) w$.

    The source draws the events from a training set; here they come as the stream brings them, so
    its bounds cover streams of independent events. A step costs O(non-zero inputs): w is kept as a
    scale times a vector.

    Parameters
    ----------
    lam
        $\lambda$, the strength of the regularisation.
    batch
        k, the events of one step.
    project
        Whether to project onto the ball that contains the optimum.
    intercept
        Whether to add an input that is always 1, whose weight is regularised like the others.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.research.related import Pegasos

    >>> model = preprocessing.StandardScaler() | Pegasos(lam=0.01, intercept=True)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 87.28%

    References
    ----------
    [^1]: S. Shalev-Shwartz, Y. Singer, N. Srebro, A. Cotter. Pegasos: Primal Estimated sub-GrAdient
    SOlver for SVM. Mathematical Programming 127, 2011.

    """

    def __init__(
        self, lam: float = 1e-3, batch: int = 1, project: bool = False, intercept: bool = False
    ) -> None:
        require_positive(lam=lam)
        require_counts(batch=batch)
        self.lam = lam
        self.batch = batch
        self.project = project
        self.intercept = intercept
        self._v: defaultdict[Any, float] = defaultdict(float)  # w = s v
        self._s = 1.0
        self._squared_norm = 0.0  # of w
        self._gradient: defaultdict[Any, float] = defaultdict(float)  # sum of y x of violators
        self._product = 0.0  # of w and the gradient
        self._n_seen = 0

    @property
    def weights(self) -> dict[Any, float]:
        """The weight of each input; that of the intercept has the name None."""
        return {name: self._s * v for name, v in self._v.items()}

    def decision_one(self, x: Mapping[Any, float]) -> float:
        """Return <w, x>: its sign is the class, its size the margin in units of the loss."""
        found = sum(value * self._v[name] for name, value in x.items() if name in self._v)
        return self._s * (found + self._v.get(None, 0.0))

    def predict_one(self, x: Mapping[Any, float]) -> bool:
        """Return whether <w, x> is positive."""
        return self.decision_one(x) > 0.0

    def predict_several(self, xs: Iterable[Mapping[Any, float]]) -> list[bool]:
        """Return the class of each input."""
        return [self.predict_one(x) for x in xs]

    def learn_one(self, x: Mapping[Any, float], y: Any) -> None:
        """Take the event into the batch; at its end, take a step."""
        require_finite(x)
        sign, decision = sign_of(y), self.decision_one(x)
        if sign * decision < 1.0:
            for name, value in x.items():
                self._gradient[name] += sign * value
            if self.intercept:
                self._gradient[None] += sign
            self._product += sign * decision
        self._n_seen += 1
        if self._n_seen % self.batch == 0:
            self._step(self._n_seen // self.batch)

    def _step(self, t: int) -> None:
        self._scale(1.0 - 1.0 / t)
        rate = 1.0 / (self.lam * t * self.batch)
        for name, value in self._gradient.items():
            self._v[name] += rate / self._s * value
        if self.project:
            self._project(1.0 - 1.0 / t, rate)
        self._gradient.clear()
        self._product = 0.0

    def _project(self, decay: float, rate: float) -> None:
        """Keep ||w|| <= 1 / sqrt(lambda); the norm follows from those of the step's parts."""
        squares = sum(value * value for value in self._gradient.values())
        self._squared_norm = (
            decay**2 * self._squared_norm + 2 * decay * rate * self._product + rate**2 * squares
        )
        if (excess := self._squared_norm * self.lam) > 1.0:
            self._scale(1.0 / sqrt(excess))
            self._squared_norm = 1.0 / self.lam

    def _scale(self, factor: float) -> None:
        self._s *= factor
        if self._s < SMALLEST_SCALE:
            self._v = defaultdict(float, {name: w for name, w in self.weights.items() if w})
            self._s = 1.0

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"batch": 5, "project": True, "intercept": True}
