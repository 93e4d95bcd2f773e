"""Profile fast of `InfiniteLayerRegressor`: a ridge and four others, in two compiled calls."""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import fast_event as kernels
from iln_stream.compiled.column_statistics import CHANGED_AT
from iln_stream.compiled.fast_event import N_LAGS, RIDGE
from iln_stream.compiled.standardise import ABSENT
from iln_stream.compiled.target import center_and_unit
from iln_stream.learners.infinite_layer.engine.drift import signal
from iln_stream.learners.infinite_layer.engine.engine import Engine
from iln_stream.learners.infinite_layer.engine.inputs import Inputs, no_statistics
from iln_stream.learners.infinite_layer.engine.intervals import Intervals
from iln_stream.learners.infinite_layer.engine.observation import Vector
from iln_stream.learners.infinite_layer.experts.feature_resampler import FIRST, NEVER, SLICE
from iln_stream.learners.infinite_layer.experts.weight_distribution import WeightDistribution
from iln_stream.learners.infinite_layer.part import from_state, to_state

N_UNITS = 64
BLOCK = 16
MEMORY = 1024
PRIOR = WeightDistribution("cos", 1.5, sparse=True)
EXPERTS = ("ridge", "running-mean", "persistence", "stretched-2", "stretched-4")


class Candidate(NamedTuple):
    """A candidate ridge that is being trained on the memory."""

    units: NDArray[np.float32]
    theta: NDArray[np.float64]
    P: NDArray[np.float64]
    record: NDArray[np.float64]

    def widened(self, d: int) -> "Candidate":
        """Return it for d lags and inputs; new ones enter linearly only, not through units."""
        L = len(self.units) - 1
        more = _blocks(d) - len(self.P)
        return Candidate(
            np.insert(self.units, (d - L) * [L], 0.0, axis=0),
            np.pad(self.theta, (0, more * BLOCK)),
            np.concatenate([self.P, np.tile(np.eye(BLOCK) / RIDGE, (more, 1, 1))]),
            self.record,
        )


def _blocks(d: int) -> int:
    """Return the number of blocks for the features: the units, 1, and d lags and inputs."""
    return -(-(N_UNITS + 1 + d) // BLOCK)


class FastEngine(Engine):
    """A ridge on 64 cosines in blocks of 16, the running mean and the last target, mixed.

    The cosines see the last two targets too. They are redrawn from the gradients after 64, 128,
    ..., 1024 events, like the accurate profile's.

    Parameters
    ----------
    max_columns
        The most input names that get a column.
    key
        Two words that seed all randomness.

    """

    first_order = None
    resets: ClassVar[dict[str, int]] = {}

    kept = (
        "key", "target", "record", "table", "units", "theta", "P", "agop", "memory", "next_at",
        "cursor", "drawn_at", "frame_stats", "frame_scale",
    )  # fmt: skip
    parts = ("inputs", "intervals")
    own = ("candidate",)
    fixed = ("key", "target", "record", "table", "frame_scale")

    def __init__(self, max_columns: int, key: NDArray[np.uint64]) -> None:
        super().__init__(Inputs(max_columns))
        self.key = key
        self.target = no_statistics(1)
        # Events learned and the mixture's mean |error|; drift's record; the last two targets; and
        # the ridge's record: see compiled/fast_event.py.
        self.record = np.zeros(9)
        self.table = np.zeros((4, len(EXPERTS)))
        self.table[3] = 1.0 / len(EXPERTS)
        self.agop = np.eye(N_LAGS)
        self.memory = np.zeros((MEMORY, N_LAGS + 1))  # the last targets, raw row and target
        self.intervals = Intervals()
        self.next_at = FIRST
        self.cursor = 0
        self.drawn_at = 0  # number of events after which the units were last drawn
        self.frame_stats = no_statistics(0)
        self.frame_scale = np.zeros(2)
        self._candidate: Candidate | None = None
        self._take(self._drawn(0))
        self._make_scratch()

    @property
    def n(self) -> int:
        """Events learned."""
        return int(self.record[kernels.EVENTS])

    @property
    def unit(self) -> float:
        """The unit of the scale on which targets are learned."""
        return float(center_and_unit(self.target)[1]) if self.n else 1.0

    @property
    def drift(self) -> float:
        """Mean |error| of about the last 50 events over that of about the last 1000."""
        return signal(self.record[kernels.DRIFT : kernels.LAGS])

    def _make_scratch(self) -> None:
        self._last_prediction = np.zeros((5, len(self.theta)))  # the last prediction and its row
        self._row: Vector | None = None  # that row; comparing its bytes would cost more

    def predict(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for x."""
        self._predict_row(self.inputs.row(x))
        return self._prediction

    def interval(self, x: Mapping[Any, float], level: float) -> tuple[float, float]:
        """Return the interval for x."""
        return self.intervals.around(self.predict(x), level)

    def _predict_row(self, x: Vector) -> None:
        self._row = x
        self._prediction: float = kernels.predict_event(
            x, self.inputs.stats, self.target, self.record, self.table, self.units, self.theta,
            self._last_prediction,
        )  # fmt: skip

    def learn(self, x: Mapping[Any, float], y: float) -> None:
        """Learn that y is the target of x."""
        row = self._admit(x)
        last = self._row
        if row is not last and (last is None or row.tobytes() != last.tobytes()):
            self._predict_row(row)
        self._row = None  # the state behind the prediction is about to change
        n = kernels.learn_event(
            row, y, self.inputs.stats, self.target, self.record, self.table, self.units, self.theta,
            self.P, self.agop, self.memory, self._last_prediction, self.intervals.plain,
        )  # fmt: skip
        if self._candidate is not None or n >= self.next_at:
            self._redraw()

    def _drawn(self, n: int) -> Candidate:
        counter = np.array([0, 0, n, 0], dtype=np.uint64)
        rng = np.random.Generator(np.random.Philox(key=self.key, counter=counter))
        omega, b = PRIOR.draw(N_UNITS, self.agop, N_LAGS, rng)
        n_blocks = _blocks(len(self.agop))
        P = np.tile(np.eye(BLOCK) / RIDGE, (n_blocks, 1, 1))
        return Candidate(np.vstack([omega, b]), np.zeros(n_blocks * BLOCK), P, np.zeros(2))

    def _take(self, ridge: Candidate) -> None:
        self.units, self.theta, self.P, self.record[kernels.HUBER_RECORD :] = ridge

    def _redraw(self) -> None:
        """Do an event's share of training a candidate; once it has caught up, it takes over."""
        n = self.n
        if self._candidate is None:
            changed_at = max(self.inputs.changed_at, int(self.target[CHANGED_AT, 0]))
            if n - changed_at < min(changed_at, MEMORY):
                # Older events would teach it the wrong level.
                self.next_at = changed_at + min(changed_at, MEMORY)
                return
            self._candidate = self._drawn(n)
            self.cursor = max(0, n - MEMORY, changed_at)
            self.next_at = 2 * n if 2 * n <= MEMORY else NEVER
            self.frame_stats = self.inputs.stats.copy()
            self.frame_scale = np.array(center_and_unit(self.target))
        new = self._candidate
        last = min(self.cursor + SLICE, n)
        kernels.replay_blocks(
            self.memory, self.cursor, last, self.frame_stats, self.frame_scale, *new
        )
        self.cursor = last
        if last == n:
            self._take(new)
            self._candidate = None
            self.drawn_at = n

    def _widen(self, n_columns: int) -> None:
        d = len(self.agop)
        agop = np.eye(d + n_columns)
        agop[:d, :d] = self.agop
        self.agop = agop
        self.memory = np.insert(self.memory, n_columns * [d], ABSENT, axis=1)
        if self.n == 0:
            self._take(self._drawn(0))
        else:
            now = Candidate(self.units, self.theta, self.P, self.record[kernels.HUBER_RECORD :])
            self._take(now.widened(len(agop)))
            if self._candidate is not None:
                self._candidate = self._candidate.widened(len(agop))
                fresh = no_statistics(n_columns)
                self.frame_stats = np.concatenate([self.frame_stats, fresh], axis=1)
            # Soon, but not so soon that redrawing never ends.
            soon = max(self.n + FIRST, self.drawn_at + min(self.n, MEMORY) // 4)
            self.next_at = min(self.next_at, soon)
        self._make_scratch()

    def expert_weights(self) -> dict[str, float]:
        """Return the weight of each expert in the prediction."""
        return dict(zip(EXPERTS, self.table[3].tolist(), strict=True))

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the function varies."""
        return self._shares(np.diag(self.agop)[N_LAGS:])

    def redrawn_at(self) -> dict[str, int]:
        """Return the number of events after which the units were last drawn."""
        return {"ridge": self.drawn_at}

    def state(self) -> dict[str, Any]:
        """Return the state, including the ridge being trained."""
        return super().state() | {"candidate": to_state(self._candidate)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self._candidate = from_state(Candidate, state["candidate"])
        self._make_scratch()
