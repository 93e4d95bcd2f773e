"""The parts of the accurate profile, and how an event passes through them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import accurate_event as kernels
from iln_stream.learners.infinite_layer.drift import Drift
from iln_stream.learners.infinite_layer.feature_resampler import FeatureResampler
from iln_stream.learners.infinite_layer.first_order import FirstOrder
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.intervals import Intervals
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.ml_poly import MLPoly
from iln_stream.learners.infinite_layer.neighbours import Neighbours
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.infinite_layer.rls_bank import RLSBank, RLSSpec
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.infinite_layer.tracker import Tracker
from iln_stream.learners.infinite_layer.weight_distribution import WeightDistribution, blended

SIZE = 320
N_LAGS = 2
MEMORY = 2048
RANDOM = (
    RLSSpec("dense", WeightDistribution("cos", 0.7, sparse=False)),
    RLSSpec("sparse", WeightDistribution("relu", 3.0, sparse=True), renewed=True),
    RLSSpec("recent", WeightDistribution("cos", 1.0, sparse=True, recent=True), recent=True),
)
LINEAR = (
    RLSSpec("linear", None),
    RLSSpec("linear-fast", None, forgetting=0.97),
    RLSSpec("linear-recent", None, recent=True, forgetting=0.995),
)
RIDGES = tuple(expert.name for expert in RANDOM + LINEAR)
FIRST_LEVEL = (*RIDGES, "tracker", "first-order", "level", "last")
SECOND_LEVEL = ("mean", "median", "neighbours", "standing")
DENSE, SPARSE = 0, 1
TRACKER, FIRST_ORDER, LEVEL, LAST = (
    FIRST_LEVEL.index(name) for name in ("tracker", "first-order", "level", "last")
)


PARTS = (
    "inputs", "target", "ridges", "linear", "tracker", "first_order", "mean", "final", "memory",
    "neighbours", "redraws", "intervals", "drift_means",
)  # fmt: skip


class Engine(Part):
    """The experts, their inputs and target, and the rules that combine their predictions.

    Parameters
    ----------
    max_columns
        The most input names that get a column.
    key
        Two words that seed all randomness.

    """

    kept = ("lags",)

    def __init__(self, max_columns: int, key: NDArray[np.uint64]) -> None:
        K = len(RANDOM)
        self.inputs = Inputs(max_columns)
        self.target = Target()
        self.ridges = RLSBank(RANDOM, SIZE, N_LAGS)
        self.linear = RLSBank(LINEAR, 0, N_LAGS)
        self.tracker = Tracker(SIZE + 1 + N_LAGS, 0.999)
        self.first_order = FirstOrder(SIZE, int(key[1]))
        self.mean = MLPoly(len(FIRST_LEVEL))
        self.final = MLPoly(len(SECOND_LEVEL))
        self.memory = Memory(MEMORY, N_LAGS, K)
        self.neighbours = Neighbours(MEMORY)
        self.redraws = FeatureResampler(key, K)
        self.intervals = Intervals()
        self.drift_means = Drift()
        self.lags = np.zeros(N_LAGS)
        self._wide = (self.ridges, self.linear, self.tracker, self.memory, self.neighbours)
        self._p = np.zeros(len(FIRST_LEVEL))
        self._q = np.zeros(len(SECOND_LEVEL))
        self._make_scratch()

    @property
    def n(self) -> int:
        """Events learned."""
        return self.memory.n

    @property
    def n_overflowed(self) -> int:
        """Number of inputs of learned events that got no column."""
        return self.inputs.columns.n_overflowed

    @property
    def unit(self) -> float:
        """The unit of the scale on which targets are learned."""
        return self.target.unit

    @property
    def drift(self) -> float:
        """Mean |error| of about the last 50 events over that of about the last 1000."""
        return self.drift_means.signal

    def _make_scratch(self) -> None:
        d = len(self.inputs)
        self._v = np.zeros(N_LAGS + d)
        self._row = np.zeros(d)
        self._seen: bytes | None = None

    def state(self) -> dict[str, Any]:
        """Return the state of all parts."""
        return super().state() | {name: getattr(self, name).state() for name in PARTS}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        d = state["inputs"]["stats"].shape[1]
        for part in self._wide:
            part.widen(d)
        super().restore(state)
        for name in PARTS:
            getattr(self, name).restore(state[name])
        self._make_scratch()

    def predict(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for x."""
        row = self.inputs.row(x)
        self._look(row)
        self._seen = row.tobytes()
        return self.target.raw(self._t)

    def interval(self, x: Mapping[Any, float], level: float) -> tuple[float, float]:
        """Return the interval for x."""
        return self.intervals.around(self.predict(x), level)

    def learn(self, x: Mapping[Any, float], y: float) -> None:
        """Learn that y is the target of x."""
        row = self.inputs.admit(x)
        if len(row) > len(self._row):
            self._widen(len(row) - len(self._row))
        if row.tobytes() != self._seen:
            self._look(row)
        self._seen = None  # the state behind the prediction is about to change
        self._learn(self._judge(row, y))

    def _widen(self, n_columns: int) -> None:
        for part in self._wide:
            part.widen(n_columns)
        if not self.ridges.omega.any():  # these are the first columns
            for k in range(len(RANDOM)):
                units = self.ridges.drawn(k, self.redraws.rng(0, k))
                self.ridges.put(k, self.ridges.newborn(units))
        else:
            self.redraws.columns_came(self.ridges, self.memory)
        self._make_scratch()

    def _look(self, x: NDArray[np.float64]) -> None:
        """Let every expert predict for the raw row x, and mix the predictions, in scaled units."""
        memory, near, v, p = self.memory, self.neighbours, self._v, self._p
        kernels.describe(x, self.inputs.stats, self.target.stats, self.lags, memory.n, self._row, v)
        K = len(RANDOM)
        self.ridges.predict(v, p[:K])
        self.linear.predict(v, p[K:TRACKER])
        p[TRACKER] = self.tracker.predict(self.ridges.phi[DENSE])
        p[FIRST_ORDER] = self.first_order.predict(v)
        p[LEVEL] = 0.0
        p[LAST] = v[0] / 3.0
        self._t = kernels.mix(
            p, self._q, self.mean.table, self.final.table, self.target.stats, memory.n, memory.y,
            memory.columns, self._row, near.metric, near.ordered, near.carried, near.standing,
            near.standing_t, v[N_LAGS:],
        )  # fmt: skip

    def _judge(self, x: NDArray[np.float64], y: float) -> float:
        """Score the predictions, and store the event; return the scaled target."""
        memory, near, mean, final = self.memory, self.neighbours, self.mean, self.final
        said = self.intervals
        t = kernels.judge(
            x, y, self._row, self._v[N_LAGS:], self._p, self._q, self._t, self.inputs.stats,
            self.target.stats, self.lags, memory.n, self.drift_means.record,
            mean.table, mean.record, final.table, final.record,
            memory.columns, memory.lags, memory.y, memory.predictions, near.means, near.ordered,
            near.carried, near.standing, near.standing_t,
            said.errors, said.rules, said.tallies, said.record,
        )  # fmt: skip
        memory.n += 1
        return t  # type: ignore[no-any-return]

    def _learn(self, t: float) -> None:
        """Let every expert learn the scaled target t."""
        p, K, n = self._p, len(RANDOM), self.memory.n
        self.tracker.learn(t, p[TRACKER])
        self.first_order.learn(self._v, t)
        self.ridges.learn(t, p[:K])
        self.linear.learn(t, p[K:TRACKER])
        self.ridges.sense(1.0 / min(1.0 + n / 4.0, 500.0))
        if n % 16 == 0:
            relevance = np.diag(blended(self.ridges.outer[SPARSE][N_LAGS:, N_LAGS:]))
            self.neighbours.weigh(relevance, self.inputs.sd)
        replaced = self.redraws.work(self.ridges, self.inputs, self.target, self.memory)
        if replaced == DENSE:
            self.tracker.follow(self.ridges.theta[DENSE], self.ridges.covariance(DENSE))

    def expert_weights(self) -> dict[str, float]:
        """Return the weight of each expert in the prediction."""
        mean, *others = self.final.weights.tolist()
        first = (mean * self.mean.weights).tolist()
        return dict(zip(FIRST_LEVEL + SECOND_LEVEL[1:], first + others, strict=True))

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the function varies."""
        diagonals = np.diagonal(self.ridges.outer[:, N_LAGS:, N_LAGS:], axis1=1, axis2=2)
        weights = self.mean.weights[: len(RANDOM)] + 1e-9
        total = weights @ diagonals
        shares = total / total.sum() if total.sum() > 0.0 else total
        return dict(zip(self.inputs.columns.place, shares.tolist(), strict=True))

    def redrawn_at(self) -> dict[str, int]:
        """Return the number of events after which each expert's units were last drawn."""
        names = (expert.name for expert in RANDOM)
        return dict(zip(names, self.redraws.replaced_at.tolist(), strict=True))
