"""Algorithm 1, SHRINKING_GRADIENT, as a River regressor."""

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.errors import IlnWarning
from iln_stream.features import ArcCosine, DecisionStumps, Features, GaussianFourier
from iln_stream.learners.columns import Columns
from iln_stream.learners.estimators import (
    Draws,
    Estimate,
    Estimator,
    Given,
    GrowingPool,
    Iterate,
    Policy,
    Pool,
    estimator_of,
)
from iln_stream.theory import LARGEST_STEP

LARGEST_TARGET = 1e15
"""Targets are clipped here, so that ||alpha||_1 stays far from overflow whatever arrives."""


class Update(NamedTuple):
    """What Algorithm 1 did with the last labelled event.

    Parameters
    ----------
    estimate
        E_t, with its standard error and draws.
    y
        y_t as it was learned.
    shrunk
        Whether |E_t| >= 16 B, so that alpha was shrunk instead of appended to.

    """

    estimate: Estimate
    y: float
    shrunk: bool

    @property
    def loss(self) -> float:
        """(E_t - y_t)^2 / 2."""
        return (self.estimate.value - self.y) ** 2 / 2


class ShrinkingGradient(base.Regressor):
    r"""Online regression with an infinite-layer network, without the kernel trick.

    Learns $f(x) = E_{w \\sim \\mu}[\\psi(x; w) f(w)]$ by SHRINKING_GRADIENT [^1] (Algorithm 1),
    where $\\mu$, the law of the hidden units, can only be sampled. On each event
    $(x_t, y_t)$, $y_t \\in [-1, 1]$,

    1. estimate $E_t$ of $f_t(x_t)$ from $m$ draws (Algorithm 2, `est_scalar_prod`);
    2. if $|E_t| < 16B$, append $\\alpha_t = \\eta (y_t - E_t)$ and let $x_t$ join the support;
    3. otherwise shrink, $\\alpha \\leftarrow \\alpha / 4$, and forget $x_t$.

    (The paper prints $\\alpha_t = -\\eta (y_t - E_t)$, against its own Eq. 9; that sign
    anti-learns.) With $\\eta = B / \\sqrt T$ and $m = O(B^4 T \\log BT)$ draws the expected
    regret against every $\\|f\\| \\le B$ is $O(B \\sqrt T)$ (Theorem 1). The bound speaks of
    targets in [-1, 1] and of exactly these steps; other targets are learned too, without it.
    Neither x nor y is scaled here: see `WinsorisedScaler` and `ScaledTarget`.

    All randomness is a function of the seed and of the number of events learned. So a prediction
    changes nothing, and the same x predicted twice between two events is the same number.

    Parameters
    ----------
    features
        The family of hidden units, $\\mu$ and $\\psi$. None: `GaussianFourier()`, random cosines
        with gamma = 1/d.
    estimator
        How f_t is held and estimated, by name or as an object. `"sampled"`: Algorithm 2, by
        fresh draws from the support; `draws` to `max_draws` are its parameters. `"pool"`, or
        `Pool(512)`, is far faster, and more accurate on most streams, but outside of Theorem 1;
        so is `"growing-pool"`, or `GrowingPool()`, whose features become more with the stream.
    norm_bound
        B, the norm of the functions one competes with; at least 1 for Theorem 1, any positive
        number otherwise.
    horizon
        T, the number of events to come, if known: the step is then $\\eta = B / \\sqrt T$. None:
        the anytime step $\\eta_t = \\min(B / \\sqrt t, 1)$, which Theorem 1 does not cover.
    step
        $\\eta$ itself, in place of either.
    draws
        m. None: as many as keep the variance of $E_t$ below `variance`,
        $m_t = \\lceil q \\|\\alpha\\|_1^2 / v \\rceil$ within [`min_draws`, `max_draws`], q being
        the family's bound on $E[\\psi^2 \\psi'^2]$.
    variance
        v, the tolerated variance of $E_t$ when `draws` is None.
    min_draws
        The fewest draws when `draws` is None.
    max_draws
        The most draws when `draws` is None. Once this ceiling binds, the variance is above
        `variance`: a warning is given once, and `n_capped` counts such events.
    budget
        The most support points kept. None: all are kept, as in the paper, and memory grows with
        the stream.
    policy
        Who leaves a support that is full: the "oldest".
    max_columns
        The most input names given a column; the inputs of later names are left out and counted in
        `n_overflowed`.
    seed
        Of all randomness. None: drawn from the system's entropy.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import ScaledTarget, ShrinkingGradient, WinsorisedScaler

    >>> model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1))
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.695...

    References
    ----------
    [^1]: R. Livni, D. Carmon, A. Globerson. Learning Infinite Layer Networks Without the Kernel
    Trick. ICML 2017.

    """

    def __init__(
        self,
        features: Features[Any] | None = None,
        estimator: Estimator | str = "sampled",
        norm_bound: float = 1.0,
        horizon: int | None = None,
        step: float | None = None,
        draws: int | None = None,
        variance: float = 0.01,
        min_draws: int = 16,
        max_draws: int = 10_000,
        budget: int | None = None,
        policy: Policy = "oldest",
        max_columns: int = 10_000,
        seed: int | None = None,
    ) -> None:
        if features is not None and not isinstance(features, Features):
            raise ValueError(
                f"features = {features!r} must be a family with q, draw and psi, such as "
                "iln_stream.features.GaussianFourier()"
            )
        _require(norm_bound=norm_bound, horizon=horizon, step=step, variance=variance)
        _require_counts(
            draws=draws,
            min_draws=min_draws,
            max_draws=max_draws,
            budget=budget,
            max_columns=max_columns,
        )
        if min_draws > max_draws:
            raise ValueError(f"min_draws = {min_draws} must not exceed max_draws = {max_draws}")
        self.features = features
        self.estimator = estimator
        self.norm_bound = norm_bound
        self.horizon = horizon
        self.step = step
        self.draws = draws
        self.variance = variance
        self.min_draws = min_draws
        self.max_draws = max_draws
        self.budget = budget
        self.policy = policy
        self.max_columns = max_columns
        self.seed = seed

        self._columns = Columns(max_columns)
        self._f = self._f_1()
        self._n_seen = 0
        self._n_shrinks = 0
        self._n_capped = 0
        self._n_outside = 0
        self._last: Update | None = None
        self._latest_estimate: tuple[bytes, Estimate] | None = None

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        """Take one step of Algorithm 1 on the event (x, y)."""
        y_t = _finite(y)
        x_t = self._columns.learn(x)  # from here on the event is accepted
        self._watch(y_t)
        y_t = max(-LARGEST_TARGET, min(y_t, LARGEST_TARGET))
        B, eta = self.norm_bound, self._eta()

        E_t = self._estimate(x_t)  # Algorithm 2
        shrunk = abs(E_t.value) >= 16 * B
        if not shrunk:
            self._f.append(x_t, eta * (y_t - E_t.value))
        else:
            self._f.shrink(1 / 4)

        self._n_seen += 1
        self._n_shrinks += shrunk
        self._last = Update(E_t, y_t, shrunk)
        self._latest_estimate = None

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return E, the estimate of f(x); unbiased unless the estimator says otherwise."""
        return self.estimate(x).value

    def estimate(self, x: Mapping[Any, float]) -> Estimate:
        """Return E with its standard error; the same E that learning x next would use."""
        return self._estimate(self._columns.row(x))

    @property
    def alpha_l1(self) -> float:
        """||alpha||_1: an estimate's noise is at most this times sqrt(q / m)."""
        return self._f.alpha_l1

    @property
    def n_support(self) -> int:
        """Number of support points."""
        return self._f.n_support

    @property
    def n_shrinks(self) -> int:
        """Number of events on which alpha was shrunk."""
        return self._n_shrinks

    @property
    def n_seen(self) -> int:
        """Number of labelled events learned, t."""
        return self._n_seen

    @property
    def n_capped(self) -> int:
        """Number of events on which `max_draws` kept E_t from its tolerated variance."""
        return self._n_capped

    @property
    def n_outside(self) -> int:
        """Number of targets outside [-1, 1], of which Theorem 1 says nothing."""
        return self._n_outside

    @property
    def n_overflowed(self) -> int:
        """Number of inputs left out because `max_columns` names had a column already."""
        return self._columns.n_overflowed

    @property
    def estimate_variance(self) -> float:
        """Variance of the last E_t, estimated from its own draws; 0 before the first event."""
        return 0.0 if self._last is None else self._last.estimate.standard_error**2

    @property
    def last_update(self) -> Update | None:
        """What Algorithm 1 did with the last labelled event, None before the first."""
        return self._last

    def __getstate__(self) -> dict[str, Any]:
        """The state without what was only kept to save work, so predicting never changes it."""
        return {**self.__dict__, "_latest_estimate": None}

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {}
        yield {"horizon": 1000, "draws": 50, "seed": 7}
        yield {"estimator": Pool(32), "step": 0.5, "seed": 7}
        yield {
            "features": ArcCosine(),
            "estimator": GrowingPool(8, 1.0, 99),
            "step": 0.5,
            "seed": 7,
        }
        yield {"features": DecisionStumps(), "norm_bound": 4.0, "budget": 20, "max_columns": 4}

    def _eta(self) -> float:
        """The step of event t = n_seen + 1."""
        if self.step is not None:
            return self.step
        if self.horizon is not None:
            return self.norm_bound / math.sqrt(self.horizon)
        return min(self.norm_bound / math.sqrt(self._n_seen + 1), LARGEST_STEP)

    def _watch(self, y_t: float) -> None:
        """Count what voids the guarantee, and warn of its first occurrence."""
        if abs(y_t) > 1:
            self._n_outside += 1
            if self._n_outside == 1:
                _warn(
                    f"y = {y_t:.6g} lies outside [-1, 1], where Theorem 1 says nothing; "
                    "wrap the model in ScaledTarget"
                )
        if (wanted := self._f.draws_wanted) is not None:
            self._n_capped += 1
            if self._n_capped == 1:
                _warn(
                    f"max_draws = {self.max_draws} binds: ||alpha||_1 = {self.alpha_l1:.3g} asks "
                    f"for {math.ceil(wanted)} draws to keep the variance of E below "
                    f"{self.variance:g}; raise max_draws, or lower norm_bound or step"
                )

    def _estimate(self, x_t: NDArray[np.float64]) -> Estimate:
        """Algorithm 2 at x_t; a prediction's E is kept for learning the same point next."""
        content = x_t.tobytes()
        if self._latest_estimate is not None and self._latest_estimate[0] == content:
            return self._latest_estimate[1]
        estimate = self._f.estimate(x_t, self._n_seen)
        self._latest_estimate = content, estimate
        return estimate

    def _f_1(self) -> Iterate:
        family = GaussianFourier() if self.features is None else self.features
        words = np.random.SeedSequence(self.seed).generate_state(2, np.uint64)
        key = words.astype(np.uint64)
        draws = Draws(self.draws, self.variance, self.min_draws, self.max_draws)
        given = Given(family, draws, self.budget, self.policy, key)
        return estimator_of(self.estimator).start(given)


def _finite(y: float) -> float:
    y = float(y)
    if not math.isfinite(y):
        raise ValueError(f"y is {y}: a target must be a finite number")
    return y


def _warn(message: str) -> None:
    warnings.warn(message, IlnWarning, stacklevel=4)


def _require(**numbers: float | None) -> None:
    for name, value in numbers.items():
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"{name} = {value!r} must be a positive, finite number")


def _require_counts(**counts: int | None) -> None:
    for name, value in counts.items():
        if value is not None and (value != int(value) or value < 1):
            raise ValueError(f"{name} = {value!r} must be a whole number, at least 1")
