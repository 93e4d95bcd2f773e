"""NORMA: online kernel regression and classification with forgetting."""

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from math import sqrt
from typing import Any

from river import base

from iln_stream.learners.checks import (
    clipped_target,
    require_choice,
    require_counts,
    require_positive,
)
from iln_stream.research.related.base import MarginClassifier, logistic, sign_of
from iln_stream.research.related.kernel_expansion import KernelModel


class Norma(KernelModel):
    """The recursion that both NORMA learners share; see `NormaRegressor`."""

    _losses: Mapping[str, Callable[[float, float, float], float]]
    """Derivatives of the losses by f, from f, y and the loss's parameter."""

    def __init__(
        self,
        loss: str,
        step: float,
        decay_step: bool,
        lam: float,
        gamma: float,
        window: int | None,
        intercept: bool,
        max_columns: int,
    ) -> None:
        super().__init__(gamma, max_columns)
        require_choice(tuple(self._losses), loss=loss)
        require_positive(step=step, lam=lam)
        require_counts(window=window)
        if step * lam >= 1.0:
            raise ValueError(f"step * lam = {step * lam} must be below 1: f decays by 1 - step lam")
        self.loss = loss
        self.step = step
        self.decay_step = decay_step
        self.lam = lam
        self.window = window
        self.intercept = intercept
        self._b = 0.0
        self._t = 0
        self._arrivals: deque[int] = deque()  # t of each support vector

    def decision_one(self, x: Mapping[Any, float]) -> float:
        """Return f(x) + b."""
        return super().decision_one(x) + self._b

    def decision_many(self, xs: Any) -> Any:
        """Return f + b of several inputs, faster than one by one."""
        return super().decision_many(xs) + self._b

    def _learn(self, x: Mapping[Any, float], y: float, parameter: float) -> None:
        row = self._columns.learn(x)
        slope = self._losses[self.loss](self._f(row) + self._b, y, parameter)
        self._t += 1
        eta = self.step / sqrt(self._t) if self.decay_step else self.step
        self._f.scale(1.0 - eta * self.lam)
        if slope:
            self._f.append(row, -eta * slope)
            self._arrivals.append(self._t)
            if self.intercept:
                self._b -= eta * slope
        expired = self._t - (self.window or self._t)  # at most one event a step
        if self._arrivals and self._arrivals[0] <= expired:
            self._f.remove_oldest()
            self._arrivals.popleft()


class NormaRegressor(Norma, base.Regressor):
    r"""Online kernel regression that forgets (NORMA).

    Stochastic gradient descent on the regularised risk of the present event, $\frac\lambda2 \|f\|^2
    + l(f(x_t) + b, y_t)$ [^1]:

    $f_{t+1} = (1 - \eta \lambda) f_t - \eta\, l'(f_t(x_t) + b_t, y_t)\, k(x_t, \cdot)$, $b_{t+1} =
    b_t - \eta\, l'(f_t(x_t) + b_t, y_t)$.

    A term shrinks by $1 - \eta \lambda$ with each event, so that f follows a drifting stream, and
    a term older than `window` events is dropped, at most $(1 - \eta \lambda)^\tau \eta |l'|$ of f.
    Targets are not scaled here: see `iln_stream.ScaledTarget`.

    Parameters
    ----------
    loss
        With $\xi = f - y$: "squared", $\xi^2 / 2$; "epsilon-insensitive", $\max(0, |\xi| -
        \epsilon)$; "huber", $\xi^2 / (2 \epsilon)$ where $|\xi| \le \epsilon$, else $|\xi| -
        \epsilon / 2$. The source adapts $\epsilon$ as an option; here it is fixed.
    epsilon
        In the target's units; the source's $\sigma$ for Huber's loss.
    step
        $\eta$, the step; at most 1 for the squared loss and $\epsilon$ for Huber's: larger steps
        diverge.
    decay_step
        Whether the step is $\eta / \sqrt t$: for streams that do not drift.
    lam
        $\lambda$, the strength of the regularisation.
    gamma
        Inverse squared width of the kernel exp(-gamma ||x - x'||^2).
    window
        $\tau$, in events. None: all terms stay, and memory grows with the stream.
    intercept
        Whether to learn b.
    max_columns
        The most input names that get a column; inputs of later names are left out, with a warning.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import ScaledTarget, WinsorisedScaler
    >>> from iln_stream.research.related import NormaRegressor

    >>> model = ScaledTarget(WinsorisedScaler() | NormaRegressor())
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0...

    References
    ----------
    [^1]: J. Kivinen, A. J. Smola, R. C. Williamson. Online Learning with Kernels. IEEE Transactions
    on Signal Processing 52, 2004.

    """

    _losses = {  # noqa: RUF012
        "squared": lambda f, y, _: f - y,
        "epsilon-insensitive": lambda f, y, epsilon: float((f - y > epsilon) - (y - f > epsilon)),
        "huber": lambda f, y, epsilon: max(-1.0, min((f - y) / epsilon, 1.0)),
    }

    def __init__(
        self,
        loss: str = "squared",
        epsilon: float = 0.1,
        step: float = 0.3,
        decay_step: bool = False,
        lam: float = 0.01,
        gamma: float = 0.1,
        window: int | None = 500,
        intercept: bool = True,
        max_columns: int = 10_000,
    ) -> None:
        super().__init__(loss, step, decay_step, lam, gamma, window, intercept, max_columns)
        require_positive(epsilon=epsilon)
        steepest = {"squared": 1.0, "huber": epsilon}.get(loss)
        if steepest is not None and step > steepest:
            raise ValueError(f"step = {step} must not exceed {steepest} for loss = {loss!r}")
        self.epsilon = epsilon

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return f(x) + b."""
        return self.decision_one(x)

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        """Take one step."""
        self._learn(x, clipped_target(y), self.epsilon)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"loss": "epsilon-insensitive", "decay_step": True, "window": None}
        yield {"loss": "huber", "epsilon": 1.0, "window": 20, "intercept": False}


class NormaClassifier(Norma, MarginClassifier):
    r"""Online kernel classification that forgets (NORMA).

    The recursion of `NormaRegressor` for $y \in \{-1, +1\}$.

    Parameters
    ----------
    loss
        "hinge", the soft margin $\max(0, \rho - y f)$, or "logistic", $\log(1 + e^{-y f})$, which
        gives probabilities. The source adapts $\rho$ as an option; here it is fixed.
    rho
        The margin; 0 gives the kernel perceptron.
    step
        $\eta$, the step.
    decay_step, lam, gamma, window, intercept, max_columns
        As in `NormaRegressor`.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from iln_stream.research.related import NormaClassifier

    >>> model = preprocessing.StandardScaler() | NormaClassifier()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 8...%

    """

    _losses = {  # noqa: RUF012
        "hinge": lambda f, y, rho: -y if y * f < rho else 0.0,
        "logistic": lambda f, y, _: -y * logistic(-y * f),
    }

    def __init__(
        self,
        loss: str = "hinge",
        rho: float = 1.0,
        step: float = 0.3,
        decay_step: bool = False,
        lam: float = 0.01,
        gamma: float = 0.1,
        window: int | None = 500,
        intercept: bool = True,
        max_columns: int = 10_000,
    ) -> None:
        super().__init__(loss, step, decay_step, lam, gamma, window, intercept, max_columns)
        if rho < 0.0:
            raise ValueError(f"rho = {rho!r} must not be negative")
        self.rho = rho

    def learn_one(self, x: Mapping[Any, float], y: Any) -> None:
        """Take one step."""
        self._learn(x, sign_of(y), self.rho)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"loss": "logistic", "decay_step": True, "window": 50}
