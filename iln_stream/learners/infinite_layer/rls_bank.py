"""The experts that learn by recursive least squares."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import ridge_experts as kernels
from iln_stream.compiled.activations import CODES, COS
from iln_stream.compiled.recursive_ridge import BLOCK, FACTORS, SCALE, WAITING, column, row_start
from iln_stream.compiled.replay import replay
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.infinite_layer.weight_distribution import (
    Units,
    WeightDistribution,
)

RIDGE = 0.1
HUBER = 2.0


class RLSSpec(NamedTuple):
    """Description of a ridge expert: ridge regression on random features, or linear if no prior.

    Parameters
    ----------
    name
        Its name.
    prior
        The law of its hidden units.
    recent
        Whether the last targets are inputs too.
    forgetting
        lambda: the weight of the past is multiplied by this at each event.
    renewed
        Whether it continues to be redrawn once the memory has lost history.

    """

    name: str
    prior: WeightDistribution | None
    recent: bool = False
    forgetting: float = 1.0
    renewed: bool = False


class RLSState(NamedTuple):
    """One expert's arrays: its units and its learned weights."""

    omega: NDArray[np.float32]
    b: NDArray[np.float32]
    P: NDArray[np.float64]
    pending: NDArray[np.float64]
    theta: NDArray[np.float64]
    record: NDArray[np.float64]

    def widened(self, d: int, D: int, ridge: float) -> "RLSState":
        """Return it for d inputs and D weights; new ones have weight 0, and no unit uses them."""
        more = D - self.theta.shape[-1]
        # The covariance is the scale times P; for a new weight it is 1 / ridge.
        fresh = covariance(D, ridge)[len(self.P) :] / self.record[SCALE]
        return RLSState(
            np.pad(self.omega, [(0, d - len(self.omega)), (0, 0)]),
            self.b,
            aligned(np.concatenate([self.P, fresh])),
            np.pad(self.pending, [(0, 0), (0, more)]),
            np.pad(self.theta, [(0, 0)] * (self.theta.ndim - 1) + [(0, more)]),
            self.record,
        )


class Frame(NamedTuple):
    """The statistics by which stored events are standardised when they are replayed.

    Parameters
    ----------
    stats
        Statistics of the inputs, (5, d).
    scale
        Center and unit of the target.

    """

    stats: NDArray[np.float64]
    scale: NDArray[np.float64]


class RLSBank(Part):
    """Experts f_k(v) = theta_k.phi_k(v), phi = [units, 1, .3 v, 0..], each by exact least squares.

    Their arrays are stacked, so one call of a compiled loop serves all. Errors far above the mean
    error are down-weighted (Huber). An expert that forgets has its penalty renewed (no windup).

    Parameters
    ----------
    experts
        The K experts.
    size
        R, the number of hidden units of each; 0 for linear experts.
    n_lags
        Number of last targets, the first entries of v.
    ridge
        Penalty on the squared weights, against squared errors of the scaled target.
    huber
        Errors beyond this many mean absolute errors count linearly.

    """

    kept = ("omega", "b", "linear", "P", "pending", "theta", "record", "outer")

    def __init__(
        self,
        experts: tuple[RLSSpec, ...],
        size: int,
        n_lags: int,
        ridge: float = RIDGE,
        huber: float = HUBER,
    ) -> None:
        self.experts = experts
        self.size = size
        self.n_lags = n_lags
        self.ridge = ridge
        self.huber = huber
        self.n_features = size + 1 + n_lags
        K, d, D = len(experts), n_lags, room(self.n_features)
        self.activation = np.array([CODES[e.prior.activation] if e.prior else COS for e in experts])
        self.forgetting = np.array([e.forgetting for e in experts])
        self.linear = np.array([[float(e.recent)] * n_lags for e in experts]).reshape(K, d)
        self.omega = np.zeros((K, d, size), np.float32)
        self.b = np.zeros((K, size), np.float32)
        self.P = aligned(np.tile(covariance(D, self.ridge), (K, 1)))
        self.pending = np.zeros((K, WAITING, D))
        self.theta = np.zeros((K, D))
        self.record = np.tile(nothing_learned(), (K, 1))
        self.outer = np.tile(np.eye(d), (K, 1, 1))
        self._make_scratch()

    def _make_scratch(self) -> None:
        K, D = len(self.theta), self.theta.shape[-1]
        self._u = np.zeros((K, self.size), np.float32)
        self.phi = np.zeros((K, D))
        self._k = np.zeros(D)

    def widen(self, n_columns: int) -> None:
        """Append columns to v; new ones have weight 0, and no unit uses them yet."""
        K, d = self.omega.shape[:2]
        self.n_features += n_columns
        D = room(self.n_features)
        solutions = (RLSState(*(getattr(self, name)[k] for name in RLSState._fields))
                     for k in range(K))  # fmt: skip
        wider = [solution.widened(d + n_columns, D, self.ridge) for solution in solutions]
        for name, arrays in zip(RLSState._fields, zip(*wider, strict=True), strict=True):
            setattr(self, name, np.stack(arrays))
        self.P = aligned(self.P)
        self.linear = np.pad(self.linear, [(0, 0), (0, n_columns)], constant_values=1.0)
        outer = np.tile(np.eye(d + n_columns), (K, 1, 1))
        outer[:, :d, :d] = self.outer
        self.outer = outer
        self._make_scratch()

    def widened(self, newborn: RLSState) -> RLSState:
        """Return a candidate begun before the last columns were added, as wide as the others."""
        return newborn.widened(self.omega.shape[1], self.theta.shape[-1], self.ridge)

    def predict(self, v: NDArray[np.float64], p: NDArray[np.float64]) -> None:
        """Write the experts' predictions at v (d,) into p (K,)."""
        kernels.predict_all(
            self.omega, self.b, self.activation, self.linear, self.theta, v, self._u, self.phi, p
        )

    def learn(self, t: float, p: NDArray[np.float64]) -> None:
        """Learn t at the row last predicted, where the predictions were p."""
        kernels.learn_all(
            self.P, self.pending, self.theta, self.record, self.phi, p, t, self.forgetting,
            self.ridge, self.huber, self._k,
        )  # fmt: skip

    def sense(self, rate: float) -> None:
        """Add the gradients at the row last predicted to the average of their outer products."""
        kernels.relevance_all(
            self.omega, self.activation, self.linear, self.theta, self._u, rate, self.outer
        )

    def drawn(self, k: int, rng: np.random.Generator) -> Units:
        """Return units for expert k, drawn from its prior as reshaped by its gradients."""
        prior = self.experts[k].prior
        assert prior is not None
        return prior.draw(self.size, self.outer[k], self.n_lags, rng)

    def newborn(self, units: Units) -> RLSState:
        """Return an untrained expert with these units."""
        D = self.theta.shape[-1]
        P, pending = aligned(covariance(D, self.ridge)), np.zeros((WAITING, D))
        return RLSState(*units, P, pending, np.zeros(self.theta.shape[1:]), nothing_learned())

    def replay(
        self, k: int, new: RLSState, memory: Memory, first: int, last: int, frame: Frame
    ) -> float:
        """Train candidate expert k on events first..last - 1; return the sum of its |errors|."""
        return float(
            replay(
                memory.columns, memory.lags, memory.y, first, last, frame.stats, frame.scale,
                new.omega, new.b, self.activation[k], self.linear[k],
                new.P, new.pending, new.theta, new.record,
                self.forgetting[k], self.ridge, self.huber,
            )
        )  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self.P = aligned(self.P)

    def covariance(self, k: int) -> NDArray[np.float64]:
        """Return expert k's full covariance, (D, D)."""
        C = np.empty((self.theta.shape[-1],) * 2)
        for i in range(len(C)):
            column(self.P[k], self.pending[k], self.record[k], i, C[i])
        return C

    def put(self, k: int, solution: RLSState) -> None:
        """Replace expert k by a solution."""
        for name, array in solution._asdict().items():
            getattr(self, name)[k] = array


def room(n_features: int) -> int:
    """Return n_features rounded up to whole blocks; the padding features are always 0."""
    return -(-n_features // BLOCK) * BLOCK


def covariance(D: int, ridge: float = RIDGE) -> NDArray[np.float64]:
    """Return the inverse of the penalty on D weights, as `row_start` lays it out."""
    P = np.zeros(row_start(D))
    for i in range(D):
        P[row_start(i) + i] = 1.0 / ridge
    return P


def aligned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a copy aligned to a cache line, so that a wide vector load touches only one line."""
    buffer = np.empty(values.nbytes + 64, np.uint8)
    first = -buffer.ctypes.data % 64
    copy = buffer[first : first + values.nbytes].view(np.float64).reshape(values.shape)
    copy[:] = values
    return copy


def nothing_learned() -> NDArray[np.float64]:
    """Return the record of an untrained expert."""
    record = np.zeros(FACTORS + WAITING)
    record[SCALE] = 1.0
    return record
