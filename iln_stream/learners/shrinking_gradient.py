"""Algorithm 1, SHRINKING_GRADIENT, as a River regressor."""

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.errors import IlnWarning
from iln_stream.features import ArcCosine, DecisionStumps, Features, GaussianFourier
from iln_stream.learners.checks import (
    clipped_target,
    require_choice,
    require_counts,
    require_family,
    require_positive,
    weight_of_event,
)
from iln_stream.learners.draws import LARGEST_STEP, SATURATED_NOISE, theorem_1_covers
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
from iln_stream.learners.metrics import (
    SHRUNK,
    algorithm_1_flags,
    algorithm_1_metrics,
    columns_metrics,
)
from iln_stream.learners.preprocessing.columns import Columns
from iln_stream.learners.restoring import RestorableLearner, random_key, restorable
from iln_stream.reporting import MetricSpec, Report
from iln_stream.state import StateDict, StateSchema


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


_SCHEMA = StateSchema("iln_stream.Watch", 1)

_SETTLED_FROM = 10
"""Number of targets after which their root mean square is taken as settled."""


class Watch:
    """Counts events that Theorem 1 does not cover, and those on which noise drowns the targets.

    Parameters
    ----------
    norm_bound, variance, max_draws
        As in `ShrinkingGradient`.
    horizon
        T if the step is that of Theorem 1, or None.

    """

    def __init__(
        self, norm_bound: float, variance: float, max_draws: int, horizon: int | None = None
    ) -> None:
        self._norm_bound = norm_bound
        self._variance = variance
        self._max_draws = max_draws
        self._horizon = horizon
        self.n_outside = 0
        self.n_capped = 0
        self.n_diverging = 0
        self.noise = 0.0  # bound on the standard deviation of the last E_t
        self._n = 0
        self._mean_square = 0.0  # of the targets

    def event(self, t: int, y_t: float, noise: float, f_t: Iterate) -> list[str]:
        """Check event t = 1, 2, .. before f_t is updated; return the warnings to give.

        The noise is E_t's. Each warning is given once in a run.
        """
        B, T, warned = self._norm_bound, self._horizon, []
        self.noise = noise
        if noise != 0.0:
            self._n += 1
            self._mean_square += (y_t * y_t - self._mean_square) / self._n
            if self._n >= _SETTLED_FROM and self._is_drowned():
                self.n_diverging += 1
                if self.n_diverging == 1:
                    warned.append(
                        f"the run is diverging: the noise of E, ||alpha||_1 sqrt(q / m) = "
                        f"{self.noise:.3g}, is at least as large as the signal (B = {B:g}, the "
                        f"targets' root mean square is {math.sqrt(self._mean_square):.3g}); take "
                        "more draws, or lower norm_bound or step"
                    )
        if (wanted := f_t.draws_wanted) is not None:
            self.n_capped += 1
            if self.n_capped == 1:
                warned.append(
                    f"max_draws = {self._max_draws} binds: ||alpha||_1 = {f_t.alpha_l1:.3g} "
                    f"requires {math.ceil(wanted)} draws to keep the variance of E below "
                    f"{self._variance:g}; raise max_draws, or lower norm_bound or step"
                )
        if abs(y_t) > 1:
            self.n_outside += 1
            if self.n_outside == 1:
                warned.append(
                    f"y = {y_t:.6g} lies outside [-1, 1], where Theorem 1 does not hold; "
                    "wrap the model in ScaledTarget"
                )
        if T is not None and t == 1 and not theorem_1_covers(B, T):
            warned.append(
                f"horizon = {T} with norm_bound = {B:g} is not covered by Theorem 1, whose proof "
                f"needs norm_bound >= 1 and horizon > 64 norm_bound^2 = {64 * B * B:g}; raise "
                "horizon, or change norm_bound"
            )
        elif T is not None and t == T + 1:
            warned.append(
                f"event {t} is beyond horizon = {T}, for which Theorem 1's step was chosen; "
                "raise horizon, or leave it unset for a step that decays"
            )
        return warned

    def _is_drowned(self) -> bool:
        """`theory.diverging` without the checks of its arguments, as this runs on every event."""
        noise = self.noise
        return noise * noise > self._mean_square > 0.0 or noise > SATURATED_NOISE * self._norm_bound

    def state(self) -> StateDict:
        """Return the counts."""
        return _SCHEMA.write(
            counts=[self.n_outside, self.n_capped, self.n_diverging, self._n],
            noise=self.noise,
            mean_square=self._mean_square,
        )

    def restore(self, state: StateDict) -> None:
        """Take the counts of a state."""
        counts, self.noise, self._mean_square = _SCHEMA.read(
            state, "counts", "noise", "mean_square"
        )
        self.n_outside, self.n_capped, self.n_diverging, self._n = counts


@restorable
class ShrinkingGradient(RestorableLearner, base.Regressor):
    """Online regression with an infinite-layer network, without the kernel trick.

    Learns f(x), the mean of psi(x; w) f(w) over hidden units w, by SHRINKING_GRADIENT [^1]
    (Algorithm 1), where one can only draw from mu, the distribution of the hidden units. On each
    event t, with inputs x and a target y in [-1, 1],

    1. estimate f(x) from m draws (Algorithm 2, `est_scalar_prod`): the estimate is E;
    2. if |E| < 16 B, append the coefficient alpha = step (y - E), and let x join the support;
    3. otherwise shrink: divide all alphas by 4, and forget x.

    (The paper prints alpha = -step (y - E), against its own Eq. 9.) With the step B / sqrt(T) and
    m = O(B^4 T log(BT)) draws, the expected regret against every f of norm at most B is
    O(B sqrt(T)) (Theorem 1). The bound covers targets in [-1, 1] and exactly these steps; other
    targets are learned too, without a bound. Neither x nor y is scaled here: see `WinsorisedScaler`
    and `ScaledTarget`.

    All randomness is a function of the seed and of the number of events learned. A prediction
    changes nothing, and predicting the same x twice between two events gives the same number.

    Parameters
    ----------
    features
        The family of hidden units, mu and psi. None: `GaussianFourier()`, random cosines
        with gamma = 1/d.
    estimator
        How f_t is stored and estimated, by name or as an object. `"sampled"`: Algorithm 2, with
        fresh draws from the support; `draws` to `max_draws` apply to it and `"averaged"` only.
        `"block"`, `"full"`: fresh units for several points, or all. `"exact"`: the kernel, where it
        has a closed form. `"pool"`, or `Pool(512)`, is far faster, and more accurate on most
        streams, but Theorem 1 does not cover it; `"growing-pool"` adds units. `"averaged"`: like
        sampled, and keeps the average of all f_t.
    norm_bound
        B, the norm of the comparator functions; at least 1 for Theorem 1.
    horizon
        T, the number of events to come, if known: the step is then B / sqrt(T). None: the
        anytime step, the smaller of B / sqrt(t) and 1, which Theorem 1 does not cover.
    step
        The step itself, which overrides both.
    draws
        m. None: enough to keep the variance of E below `variance`, v: the square of the sum of all
        |alpha|, times q / v, within [`min_draws`, `max_draws`]. q is the family's bound on the mean
        of psi^2 psi'^2.
    variance
        v, the tolerated variance of E when `draws` is None.
    min_draws
        The fewest draws when `draws` is None.
    max_draws
        The most draws when `draws` is None. Once it binds, the variance may exceed `variance`: a
        warning is given once, and `n_capped` counts such events.
    budget
        The most support points kept. None: all are kept, as in the paper, and memory grows with
        the stream.
    policy
        What a full support evicts. "oldest": the oldest point for each new one. "smallest": at once
        all but the half with the largest |alpha_i|. "compress": at once about half of the points,
        at random, raising the others' alphas to preserve the expectation of f; for small steps
        this is closest to having no budget.
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

    always_finite = True
    flags = (SHRUNK,)
    """Flags that an event may raise; see `iln_stream.reporting`."""

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
        require_family(features)
        require_positive(norm_bound=norm_bound, horizon=horizon)
        require_positive(step=step, variance=variance)
        require_counts(draws=draws, min_draws=min_draws, max_draws=max_draws)
        require_counts(budget=budget, max_columns=max_columns)
        require_choice(get_args(Policy), policy=policy)
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
        self._key = random_key(seed)
        self._f = self._new_f()
        self._n_seen = 0
        self._n_shrinks = 0
        self._excess_weight = 0.0  # the sum of w^2 - 1
        self._watch = Watch(norm_bound, variance, max_draws, horizon if step is None else None)
        self._last: Update | None = None
        self._latest_estimate: tuple[bytes, Estimate] | None = None

    def learn_one(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        """Take one step of Algorithm 1 on the event (x, y), whose loss has the weight w.

        The step is then multiplied by w / r, r being the root mean square of all weights so far,
        and at least 1; the product is at most 1 (or the step itself): no step
        overshoots its target. Step 2's test is that of E_t alone, whatever the weight. An event of
        weight 0 can only shrink: its x does not join the support, and `estimate_average` leaves it
        out.

        Parameters
        ----------
        x
            The inputs.
        y
            The target.
        w
            Its weight, 0 to 1e6. Theorem 1 has no weights.

        Raises
        ------
        ValueError
            When y is not a finite number, or w is no weight.

        """
        y_t, w_t = clipped_target(y), weight_of_event(w)
        with self._turn:
            self.learn_row(self._columns.learn(x), y_t, w_t)

    def predict_one(self, x: Mapping[Any, float]) -> float:
        """Return E, the estimate of f(x); unbiased unless the estimator documents otherwise."""
        return self.estimate(x).value

    def estimate(self, x: Mapping[Any, float]) -> Estimate:
        """Return E with its standard error, the same E that learning x next would use."""
        with self._turn:
            return self.estimate_row(self._columns.row(x))

    def learn_row(self, x_t: NDArray[np.float64], y_t: float, w_t: float = 1.0) -> None:
        """Take one step of Algorithm 1 on finite numbers x_t, shape (d,), where d may grow."""
        with self._turn:  # the body of Algorithm 1: `shrinking_gradient_step` of the paper
            B, t = self.norm_bound, self._n_seen + 1

            E_t = self.estimate_row(x_t)  # Algorithm 2
            if not math.isfinite(E_t.value):
                E_t = self._begin_again(x_t)
            noise = self._f.noise(E_t.draws)
            for message in self._watch.event(t, y_t, noise, self._f):
                warnings.warn(message, IlnWarning, stacklevel=3)  # at the caller of learn_one
            step = self._eta(t, w_t)
            shrunk = abs(E_t.value) >= 16 * B
            if shrunk:
                self._f.shrink(1 / 4)
            elif w_t > 0.0:
                self._f.append(x_t, step * (y_t - E_t.value))

            self._n_seen = t
            self._n_shrinks += shrunk
            self._last = Update(E_t, y_t, shrunk)
            self._latest_estimate = None

    def estimate_row(self, x_t: NDArray[np.float64]) -> Estimate:
        """Return E at a row, as `estimate` does; it is kept for learning the same row next."""
        with self._turn:
            content = x_t.tobytes()
            if self._latest_estimate is None or self._latest_estimate[0] != content:
                self._latest_estimate = content, self._f.estimate(x_t, self._n_seen)
            return self._latest_estimate[1]

    def _eta(self, t: int, w_t: float) -> float:
        """Note the weight of event t and return its step, relative to the root mean square of all.

        That counts only where it is above 1: weights up to 1 lower steps. If all weights are the
        same number above 1, steps are those without weights; anytime steps are
        B w_t / sqrt(sum_s w_s^2), those of gradient descent on losses w_t times as steep.
        """
        if self.step is not None:
            eta = self.step
        elif self.horizon is not None:
            eta = self.norm_bound / math.sqrt(self.horizon)
        else:
            eta = min(self.norm_bound / math.sqrt(t), LARGEST_STEP)
        self._excess_weight += w_t * w_t - 1.0
        relative = w_t / math.sqrt(1.0 + max(self._excess_weight, 0.0) / t)
        return min(eta * relative, max(eta, LARGEST_STEP))

    def _begin_again(self, x_t: NDArray[np.float64]) -> Estimate:
        """Forget f_t, which is not finite; return E at the row by f_1 = 0."""
        warnings.warn(
            f"E_t was not a finite number after {self._n_seen} events: f_t is forgotten, and the "
            "run begins again; scale the inputs, or lower norm_bound or step",
            IlnWarning,
            stacklevel=4,  # at the caller of learn_one
        )
        self._f = self._new_f()
        self._latest_estimate = None
        return self.estimate_row(x_t)

    def _new_f(self) -> Iterate:
        """Return f_1 = 0."""
        family = GaussianFourier() if self.features is None else self.features
        draws = DrawPolicy(self.draws, self.variance, self.min_draws, self.max_draws)
        context = EstimatorContext(family, draws, self.budget, self.policy, self._key)
        return estimator_of(self.estimator).start(context)

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

        Raises
        ------
        ValueError
            When the estimator keeps no average, or its function is not a layer of ridge units.

        """
        with self._turn:
            f = self._average() if average else self._current()
            if not isinstance(f, HasFiniteLayer):
                raise ValueError(f"estimator = {self.estimator!r} has no layer of units to freeze")
            return f.finite_layer(size, len(self._columns), np.random.default_rng(seed))

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

    @property
    def iterate(self) -> Iterate:
        """f_t as the estimator stores it, not a copy; with `Averaged`, an `AveragedIterate`."""
        with self._turn:
            return self._f

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
        with self._turn:
            last = self._last
            return 0.0 if last is None else last.estimate.standard_error**2

    @property
    def last_update(self) -> Update | None:
        """What Algorithm 1 did with the last labelled event, None before the first."""
        with self._turn:
            return self._last

    def report(self, y_pred: float, y: float) -> Report:
        """Report the loss (E_t - y_t)^2 / 2 of the last event, and whether alpha was shrunk."""
        update = self._last
        if update is None:  # a wrapper did not pass the event on
            return None, ()
        return update.loss, algorithm_1_flags(update)

    def metrics(self) -> Sequence[MetricSpec]:
        """Return the metrics of Algorithm 1."""
        return (*algorithm_1_metrics(lambda: self), *columns_metrics(self))

    def state(self) -> StateDict:
        """Return the learner's complete state, as plain values and arrays; it shares no memory.

        It has the sum of weights only if one of them was not 1. A family or an estimator that is
        not iln_stream's is stored by name only.
        """
        with self._turn:
            excess = self._excess_weight
            return self._write_state(
                **({"excess_weight": excess} if excess else {}),
                key=self._key.copy(),
                columns=self._columns.state(),
                f=self._f.state(),
                n_seen=self._n_seen,
                n_shrinks=self._n_shrinks,
                watch=self._watch.state(),
                last=None if self._last is None else [*self._last.estimate, *self._last[1:]],
            )

    def restore(self, state: StateDict) -> None:
        weighted = ["excess_weight"] if "excess_weight" in state else []
        key, columns, f, n_seen, n_shrinks, watch, last, *excess = self._read_state(
            state, "key", "columns", "f", "n_seen", "n_shrinks", "watch", "last", *weighted
        )
        with self._turn:
            self._key = key.copy()
            self._columns.restore(columns)
            self._f = self._new_f()
            self._f.restore(f)
            self._n_seen, self._n_shrinks = n_seen, n_shrinks
            self._watch.restore(watch)
            self._excess_weight = sum(excess)
            self._last = None if last is None else Update(Estimate(*last[:3]), *last[3:])
            self._latest_estimate = None

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
