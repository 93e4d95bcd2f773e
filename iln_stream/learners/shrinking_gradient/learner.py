"""Algorithm 1, SHRINKING_GRADIENT, as a River regressor."""

import math
import warnings
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray
from river import base

from iln_stream.errors import IlnWarning
from iln_stream.features import ArcCosine, DecisionStumps, Features, GaussianFourier
from iln_stream.learners import validation
from iln_stream.learners.estimators import (
    DrawPolicy,
    Estimate,
    Estimator,
    EstimatorContext,
    GrowingPool,
    Policy,
    Pool,
    estimator_of,
)
from iln_stream.learners.preprocessing.columns import Columns
from iln_stream.learners.random_key import random_key
from iln_stream.learners.restoring import RestorableLearner, restorable
from iln_stream.learners.shrinking_gradient.learned_function import LearnedFunction
from iln_stream.learners.shrinking_gradient.run_statistics import RunStatistics
from iln_stream.learners.shrinking_gradient.update import Update
from iln_stream.learners.shrinking_gradient.watch import Watch
from iln_stream.learners.shrinking_gradient.weight_scale import WeightScale
from iln_stream.state import StateDict
from iln_stream.theory import LARGEST_STEP


@restorable
class ShrinkingGradient(LearnedFunction, RunStatistics, RestorableLearner, base.Regressor):
    r"""Online regression with an infinite-layer network, without the kernel trick.

    Learns $f(x) = E_{w \sim \mu}[\psi(x; w) f(w)]$ by SHRINKING_GRADIENT [^1] (Algorithm 1),
    where one can only draw from $\mu$, the distribution of the hidden units. On each event
    $(x_t, y_t)$, $y_t \in [-1, 1]$,

    1. estimate $E_t$ of $f_t(x_t)$ from $m$ draws (Algorithm 2, `est_scalar_prod`);
    2. if $|E_t| < 16B$, append $\alpha_t = \eta (y_t - E_t)$ and let $x_t$ join the support;
    3. otherwise shrink, $\alpha \leftarrow \alpha / 4$, and forget $x_t$.

    (The paper prints $\alpha_t = -\eta (y_t - E_t)$, against its own Eq. 9.) With $\eta = B /
    \sqrt T$ and $m = O(B^4 T \log BT)$ draws the expected regret against every $\|f\| \le B$ is
    $O(B \sqrt T)$ (Theorem 1). The bound covers targets in [-1, 1] and exactly these steps; other
    targets are learned too, without a bound. Neither x nor y is scaled here: see `WinsorisedScaler`
    and `ScaledTarget`.

    All randomness is a function of the seed and of the number of events learned. A prediction
    changes nothing, and predicting the same x twice between two events gives the same number.

    Parameters
    ----------
    features
        The family of hidden units, $\mu$ and $\psi$. None: `GaussianFourier()`, random cosines
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
        T, the number of events to come, if known: the step is then $\eta = B / \sqrt T$. None:
        the anytime step $\eta_t = \min(B / \sqrt t, 1)$, which Theorem 1 does not cover.
    step
        $\eta$ itself, which overrides both.
    draws
        m. None: enough to keep the variance of $E_t$ below `variance`,
        $m_t = \lceil q \|\alpha\|_1^2 / v \rceil$ within [`min_draws`, `max_draws`], q being
        the family's bound on $E[\psi^2 \psi'^2]$.
    variance
        v, the tolerated variance of $E_t$ when `draws` is None.
    min_draws, max_draws
        The fewest and the most draws when `draws` is None. Once `max_draws` binds, the variance may
        exceed `variance`: a warning is given once, and `n_capped` counts such events.
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

    always_finite = True

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
        validation.require_family(features)
        validation.require_positive(norm_bound=norm_bound, horizon=horizon)
        validation.require_positive(step=step, variance=variance)
        validation.require_counts(draws=draws, min_draws=min_draws, max_draws=max_draws)
        validation.require_counts(budget=budget, max_columns=max_columns)
        validation.require_choice(get_args(Policy), policy=policy)
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
        self._f = estimator_of(estimator).start(self._estimator_context())
        self._n_seen = 0
        self._n_shrinks = 0
        self._weights = WeightScale()
        self._watch = Watch(norm_bound, variance, max_draws, horizon if step is None else None)
        self._last: Update | None = None
        self._latest_estimate: tuple[bytes, Estimate] | None = None

    def learn_one(self, x: Mapping[Any, float], y: float, w: float = 1.0) -> None:
        r"""Take one step of Algorithm 1 on the event (x, y), whose loss has the weight w.

        The step is then $\alpha_t = \eta w / r_t (y_t - E_t)$, $r_t$ being the root mean square of
        all weights so far, and at least 1; with $\eta w / r_t$ at most 1 (or $\eta$): no step
        overshoots its target. Step 2's test is that of E_t alone, whatever the weight. An event of
        weight 0 can only shrink: its x does not join the support, and `estimate_average` leaves it
        out.

        Parameters
        ----------
        x, y
            The event.
        w
            Its weight, 0 to 1e6. Theorem 1 covers weights of at most 1.

        Raises
        ------
        ValueError
            When y is not a finite number, or w is no weight.

        """
        y_t, w_t = validation.clipped_target(y), validation.weight_of_event(w)
        with self._turn:
            self._learn(self._columns.learn(x), y_t, w_t)

    def learn_row(self, x_t: NDArray[np.float64], y_t: float, w_t: float = 1.0) -> None:
        """Take one step of Algorithm 1 on finite numbers x_t, shape (d,), where d may grow."""
        with self._turn:
            self._learn(x_t, y_t, w_t)

    def _learn(self, x_t: NDArray[np.float64], y_t: float, w_t: float) -> None:
        """Run the body of Algorithm 1: `shrinking_gradient_step` of paper/algorithms.py."""
        B, eta = self.norm_bound, self._eta()

        E_t = self._estimate(x_t)  # Algorithm 2
        if not math.isfinite(E_t.value):
            E_t = self._begin_again(x_t)
        for message in self._watch.event(self._n_seen + 1, y_t, E_t, self._f):
            warnings.warn(message, IlnWarning, stacklevel=3)  # at the caller of learn_one
        step = min(eta * self._weights.relative(w_t, self._n_seen + 1), max(eta, LARGEST_STEP))
        shrunk = abs(E_t.value) >= 16 * B
        if not shrunk:
            if w_t > 0.0:
                self._f.append(x_t, step * (y_t - E_t.value))
        else:
            self._f.shrink(1 / 4)

        self._n_seen += 1
        self._n_shrinks += shrunk
        self._last = Update(E_t, y_t, shrunk)
        self._latest_estimate = None

    def _begin_again(self, x_t: NDArray[np.float64]) -> Estimate:
        """Forget f_t, which is not finite; return E at the row by f_1 = 0."""
        warnings.warn(
            f"E_t was not a finite number after {self._n_seen} events: f_t is forgotten, and the "
            "run begins again; scale the inputs, or lower norm_bound or step",
            IlnWarning,
            stacklevel=4,  # at the caller of learn_one
        )
        self._f = estimator_of(self.estimator).start(self._estimator_context())
        self._latest_estimate = None
        return self._estimate(x_t)

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

    def state(self) -> StateDict:
        """Return the learner's complete state, as plain values and arrays; it shares no memory.

        It has the sum of weights only if one of them was not 1. A family or an estimator that is
        not iln_stream's is stored by name only.
        """
        with self._turn:
            excess = self._weights.excess
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
        """Go on from a state; see `RestorableLearner.restore`."""
        weighted = ["excess_weight"] if "excess_weight" in state else []
        key, columns, f, n_seen, n_shrinks, watch, last, *excess = self._read_state(
            state, "key", "columns", "f", "n_seen", "n_shrinks", "watch", "last", *weighted
        )
        with self._turn:
            self._key = key.copy()
            self._columns.restore(columns)
            self._f = estimator_of(self.estimator).start(self._estimator_context())
            self._f.restore(f)
            self._n_seen, self._n_shrinks = n_seen, n_shrinks
            self._watch.restore(watch)
            self._weights.excess = sum(excess)
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

    def _eta(self) -> float:
        """The step of event t = n_seen + 1."""
        if self.step is not None:
            return self.step
        if self.horizon is not None:
            return self.norm_bound / math.sqrt(self.horizon)
        return min(self.norm_bound / math.sqrt(self._n_seen + 1), LARGEST_STEP)

    def _estimator_context(self) -> EstimatorContext:
        family = GaussianFourier() if self.features is None else self.features
        draws = DrawPolicy(self.draws, self.variance, self.min_draws, self.max_draws)
        return EstimatorContext(family, draws, self.budget, self.policy, self._key)
