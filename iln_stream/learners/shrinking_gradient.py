"""Algorithm 1, SHRINKING_GRADIENT, as a River regressor."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.features import ArcCosine, DecisionStumps, Features, GaussianFourier
from iln_stream.learners.columns import Columns
from iln_stream.learners.estimators import (
    AveragedIterate,
    DrawPolicy,
    Estimate,
    EstimatesWithin,
    Estimator,
    EstimatorContext,
    FiniteLayer,
    GrowingPool,
    HasFiniteLayer,
    Iterate,
    Policy,
    Pool,
    estimator_of,
)
from iln_stream.learners.one_at_a_time import OneAtATime
from iln_stream.learners.parameters import parameters_of, state_of_parameters
from iln_stream.learners.reports import (
    SHRUNK,
    algorithm_1_flags,
    algorithm_1_metrics,
    columns_metrics,
)
from iln_stream.learners.restoring import restorable
from iln_stream.learners.watch import Watch
from iln_stream.reporting import MetricSpec, Report
from iln_stream.state import StateDict, StateSchema
from iln_stream.theory import LARGEST_STEP

_FORM = StateSchema("ShrinkingGradient", 1)

LARGEST_TARGET = 1e15
"""Targets are clipped here, so that ||alpha||_1 stays far from overflow for any input."""


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
        error = self.estimate.value - self.y
        return error * error / 2


@restorable
class ShrinkingGradient(OneAtATime, base.Regressor):
    r"""Online regression with an infinite-layer network, without the kernel trick.

    Learns $f(x) = E_{w \\sim \\mu}[\\psi(x; w) f(w)]$ by SHRINKING_GRADIENT [^1] (Algorithm 1),
    where $\\mu$, the law of the hidden units, can only be sampled. On each event
    $(x_t, y_t)$, $y_t \\in [-1, 1]$,

    1. estimate $E_t$ of $f_t(x_t)$ from $m$ draws (Algorithm 2, `est_scalar_prod`);
    2. if $|E_t| < 16B$, append $\\alpha_t = \\eta (y_t - E_t)$ and let $x_t$ join the support;
    3. otherwise shrink, $\\alpha \\leftarrow \\alpha / 4$, and forget $x_t$.

    (The paper prints $\\alpha_t = -\\eta (y_t - E_t)$, against its own Eq. 9; that sign
    anti-learns.) With $\\eta = B / \\sqrt T$ and $m = O(B^4 T \\log BT)$ draws the expected
    regret against every $\\|f\\| \\le B$ is $O(B \\sqrt T)$ (Theorem 1). The bound covers
    targets in [-1, 1] and exactly these steps; other targets are learned too, without a bound.
    Neither x nor y is scaled here: see `WinsorisedScaler` and `ScaledTarget`.

    All randomness is a function of the seed and of the number of events learned. A prediction
    changes nothing, and predicting the same x twice between two events gives the same number.

    Parameters
    ----------
    features
        The family of hidden units, $\\mu$ and $\\psi$. None: `GaussianFourier()`, random cosines
        with gamma = 1/d.
    estimator
        How f_t is stored and estimated, by name or as an object. `"sampled"`: Algorithm 2, with
        fresh draws from the support; `draws` to `max_draws` apply to it and `"averaged"` only.
        `"block"` and `"full"`: fresh units for several points, or all, at once. `"exact"`: the
        kernel, where it has a closed form. `"pool"`, or `Pool(512)`, is far faster, and more
        accurate on most streams, but Theorem 1 does not cover it; `"growing-pool"` adds units as
        the stream runs. `"averaged"`: like sampled, and keeps the average of all f_t for
        `estimate_average`.
    norm_bound
        B, the norm of the comparator functions; at least 1 for Theorem 1, any positive number
        otherwise.
    horizon
        T, the number of events to come, if known: the step is then $\\eta = B / \\sqrt T$. None:
        the anytime step $\\eta_t = \\min(B / \\sqrt t, 1)$, which Theorem 1 does not cover.
    step
        $\\eta$ itself, which overrides both.
    draws
        m. None: enough to keep the variance of $E_t$ below `variance`,
        $m_t = \\lceil q \\|\\alpha\\|_1^2 / v \\rceil$ within [`min_draws`, `max_draws`], q being
        the family's bound on $E[\\psi^2 \\psi'^2]$.
    variance
        v, the tolerated variance of $E_t$ when `draws` is None.
    min_draws
        The fewest draws when `draws` is None.
    max_draws
        The most draws when `draws` is None. Once this limit binds, the variance may exceed
        `variance`: a warning is given once, and `n_capped` counts such events.
    budget
        The most support points kept. None: all are kept, as in the paper, and memory grows with
        the stream.
    policy
        Eviction policy of a full support. "oldest": evicts the oldest point for each new one.
        "smallest": evicts at once all but the half with the largest |alpha_i|. "compress": evicts
        at once about half of the points, at random, and raises the others' alphas to preserve the
        expectation of f; for small steps this is closest to having no budget.
    max_columns
        The most input names given a column; the inputs of later names are left out and counted in
        `n_overflowed`.
    seed
        Seeds all randomness. None: drawn from the system's entropy.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from iln_stream import ScaledTarget, ShrinkingGradient, WinsorisedScaler

    >>> model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1))
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.72...

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
        super().__init__()
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
        if policy not in get_args(Policy):
            raise ValueError(f"policy = {policy!r} must be one of {', '.join(get_args(Policy))}")
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
        self._key = _key_of(seed)
        self._f = estimator_of(estimator).start(self._given())
        self._n_seen = 0
        self._n_shrinks = 0
        self._watch = Watch(norm_bound, variance, max_draws)
        self._last: Update | None = None
        self._latest_estimate: tuple[bytes, Estimate] | None = None

    def learn_one(self, x: Mapping[Any, float], y: float) -> None:
        """Take one step of Algorithm 1 on the event (x, y)."""
        y_t = _target(y)
        with self._turn:
            self._learn(self._columns.learn(x), y_t)

    def learn_row(self, x_t: NDArray[np.float64], y_t: float) -> None:
        """Take one step of Algorithm 1, for callers that manage columns themselves.

        Parameters
        ----------
        x_t
            Finite numbers, shape (d,); d may grow from event to event.
        y_t
            A finite number.

        """
        with self._turn:
            self._learn(x_t, y_t)

    def _learn(self, x_t: NDArray[np.float64], y_t: float) -> None:
        B, eta = self.norm_bound, self._eta()

        E_t = self._estimate(x_t)  # Algorithm 2
        self._watch.event(y_t, E_t, self._f)
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
        """Return E, the estimate of f(x); unbiased unless the estimator documents otherwise."""
        return self.estimate(x).value

    def estimate(self, x: Mapping[Any, float]) -> Estimate:
        """Return E with its standard error, the same E that learning x next would use."""
        with self._turn:
            return self._estimate(self._columns.row(x))

    def estimate_row(self, x_t: NDArray[np.float64]) -> Estimate:
        """Return E at a row, as `estimate` does; it is kept for learning the same row next."""
        with self._turn:
            return self._estimate(x_t)

    def _estimate(self, x_t: NDArray[np.float64]) -> Estimate:
        content = x_t.tobytes()
        if self._latest_estimate is not None and self._latest_estimate[0] == content:
            return self._latest_estimate[1]
        estimate = self._f.estimate(x_t, self._n_seen)
        self._latest_estimate = content, estimate
        return estimate

    def estimate_within(self, x: Mapping[Any, float], eps: float, delta: float) -> Estimate:
        """Return an E with P(|E - f(x)| > eps) <= delta, and the draws that it took.

        `theory.draws_for` gives their number: the prediction part of Theorem 1, with the paper's
        Eq. 19 corrected and the actual ||alpha||_1. They may be many, but use bounded memory. f is
        the learned function, on the scale of the targets as they were learned.

        Parameters
        ----------
        x
            The inputs.
        eps
            Largest error, positive.
        delta
            Probability of a larger error, in (0, 1).

        Raises
        ------
        ValueError
            When eps or delta lies outside its range, or the estimator promises no accuracy.

        """
        f = self._current()
        if not isinstance(f, EstimatesWithin):
            raise ValueError(
                f"estimator = {self.estimator!r} can't guarantee an accuracy: the bound needs "
                "independent draws; use 'sampled'"
            )
        with self._turn:
            return f.estimate_within(self._columns.row(x), eps, delta, self._n_seen)

    def estimate_average(self, x: Mapping[Any, float]) -> Estimate:
        """Return the estimate of f_S(x), f_S = (1/T) sum_t f_t over all T events so far.

        This is the average of Corollary 1, which `estimator="averaged"` keeps. Besides its draws,
        each call takes O(n) time for n support points.

        Raises
        ------
        ValueError
            When the estimator does not keep the average.

        """
        with self._turn:
            return self._average().estimate(self._columns.row(x), self._n_seen)

    def finite_layer(
        self, size: int | None = None, *, seed: int = 0, average: bool = False
    ) -> tuple[FiniteLayer, NDArray[np.float64] | None]:
        """Return f over finitely many units, for `freeze`, which takes the same arguments.

        And points (n, d) at which to estimate its error, or None if the layer is f itself.
        """
        with self._turn:
            f = self._average() if average else self._current()
            if not isinstance(f, HasFiniteLayer):
                raise ValueError(f"estimator = {self.estimator!r} has no layer of units to freeze")
            return f.finite_layer(size, len(self._columns), np.random.default_rng(seed))

    @property
    def input_names(self) -> tuple[Any, ...]:
        """Names of the inputs that have a column, in column order."""
        with self._turn:
            return tuple(self._columns.place)

    @property
    def alpha_l1(self) -> float:
        """||alpha||_1: an estimate's noise is at most this times sqrt(q / m)."""
        with self._turn:
            return self._f.alpha_l1

    @property
    def n_support(self) -> int:
        """Number of support points."""
        with self._turn:
            return self._f.n_support

    @property
    def n_shrinks(self) -> int:
        """Number of events on which alpha was shrunk."""
        with self._turn:
            return self._n_shrinks

    @property
    def n_seen(self) -> int:
        """Number of labelled events learned, t."""
        with self._turn:
            return self._n_seen

    @property
    def n_capped(self) -> int:
        """Number of events on which `max_draws` was too low for the tolerated variance of E_t."""
        with self._turn:
            return self._watch.n_capped

    @property
    def n_outside(self) -> int:
        """Number of targets outside [-1, 1], which Theorem 1 does not cover."""
        with self._turn:
            return self._watch.n_outside

    @property
    def n_diverging(self) -> int:
        """Number of events on which the noise was at least as large as the targets; healthy is 0.

        See `theory.diverging`. The first one triggers a warning.
        """
        with self._turn:
            return self._watch.n_diverging

    @property
    def noise(self) -> float:
        """||alpha||_1 sqrt(q / m) of the last E_t, a bound on its standard deviation.

        0 for a pool, which takes no fresh draws, and before the first event.
        """
        with self._turn:
            return self._watch.noise

    @property
    def n_overflowed(self) -> int:
        """Number of inputs left out because `max_columns` names already had a column."""
        with self._turn:
            return self._columns.n_overflowed

    @property
    def estimate_variance(self) -> float:
        """Variance of the last E_t, estimated from its own draws; 0 before the first event."""
        last = self._last
        return 0.0 if last is None else last.estimate.standard_error**2

    @property
    def last_update(self) -> Update | None:
        """What Algorithm 1 did with the last labelled event, None before the first."""
        with self._turn:
            return self._last

    flags = (SHRUNK,)
    """Flags that an event may raise; see `iln_stream.reporting`."""

    def report(self, y_pred: float, y: float) -> Report:
        """Report the loss (E_t - y_t)^2 / 2 of the last event, and whether alpha was shrunk."""
        update = self._last
        if update is None:  # a wrapper did not pass the event on
            return None, ()
        return update.loss, algorithm_1_flags(update)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the metrics of Algorithm 1."""
        return (*algorithm_1_metrics(self), *columns_metrics(self))

    def state(self) -> StateDict:
        """Return the learner's complete state, as plain values and arrays; it shares no memory.

        A family or an estimator that is not iln_stream's is stored by name only.
        """
        with self._turn:
            return _FORM.write(
                parameters=state_of_parameters(self),
                key=self._key.copy(),
                columns=self._columns.state(),
                f=self._f.state(),
                n_seen=self._n_seen,
                n_shrinks=self._n_shrinks,
                watch=self._watch.state(),
                last=None if self._last is None else [*self._last.estimate, *self._last[1:]],
            )

    @classmethod
    def from_state(
        cls,
        state: StateDict,
        features: Features[Any] | None = None,
        estimator: Estimator | None = None,
    ) -> Self:
        """Return the learner that has this state; it resumes bit for bit.

        Parameters
        ----------
        state
            From `state`.
        features
            The family, if it is not iln_stream's.
        estimator
            The estimator, if it is not iln_stream's.

        Raises
        ------
        StateError
            When the state is of another class or version, or lacks a part that is not given.

        """
        parameters, key, columns, f, n_seen, n_shrinks, watch, last = _FORM.read(
            state, "parameters", "key", "columns", "f", "n_seen", "n_shrinks", "watch", "last"
        )
        learner = cls(**parameters_of(parameters, cls, features=features, estimator=estimator))
        learner._key = key.copy()
        learner._columns = Columns.from_state(columns)
        learner._f = estimator_of(learner.estimator).restore(learner._given(), f)
        learner._n_seen, learner._n_shrinks = n_seen, n_shrinks
        learner._watch = learner._watch.continued(watch)
        if last is not None:
            learner._last = Update(Estimate(*last[:3]), *last[3:])
        return learner

    def __getstate__(self) -> dict[str, Any]:
        """The state without caches, so that predicting never changes it."""
        return {**super().__getstate__(), "_latest_estimate": None}

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

    def _current(self) -> Iterate:
        """f_t alone."""
        return self._f.current if isinstance(self._f, AveragedIterate) else self._f

    def _average(self) -> Iterate:
        """f_S."""
        if not isinstance(self._f, AveragedIterate):
            raise ValueError(
                f"estimator = {self.estimator!r} keeps no average of all f_t: use 'averaged'"
            )
        return self._f.average()

    def _given(self) -> EstimatorContext:
        family = GaussianFourier() if self.features is None else self.features
        draws = DrawPolicy(self.draws, self.variance, self.min_draws, self.max_draws)
        return EstimatorContext(family, draws, self.budget, self.policy, self._key)


def _key_of(seed: int | None) -> NDArray[np.uint64]:
    words = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    return words.astype(np.uint64)


def _target(y: float) -> float:
    y = float(y)
    if not math.isfinite(y):
        raise ValueError(f"y is {y}: a target must be a finite number")
    return max(-LARGEST_TARGET, min(y, LARGEST_TARGET))


def _require(**numbers: float | None) -> None:
    for name, value in numbers.items():
        if value is not None and not 0 < value < math.inf:
            raise ValueError(f"{name} = {value!r} must be a positive, finite number")


def _require_counts(**counts: int | None) -> None:
    for name, value in counts.items():
        if value is not None and (value != int(value) or value < 1):
            raise ValueError(f"{name} = {value!r} must be a whole number, at least 1")
