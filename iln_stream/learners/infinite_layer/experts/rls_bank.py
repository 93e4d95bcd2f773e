"""Predictors that learn by recursive least squares, and mu, the law of their hidden units."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.activations import CODES, COS
from iln_stream.kernels.program import Call, Scalar, Step
from iln_stream.kernels.ridges import (
    BLOCK,
    FACTORS,
    SCALE,
    WAITING,
    ReplayStatistics,
    column,
    learn_all,
    predict_all,
    replay,
    row_start,
    update_agop,
)
from iln_stream.learners.infinite_layer.expert import Expert, Observation, Vector
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import aligned
from iln_stream.state import all_finite

ACTIVATIONS = ("cos", "relu")
"""Activations that the scale of `WeightDistribution` is right for."""

FLOOR = 0.03
"""Share of the prior that stays uniform over the inputs, so that no input is ever lost."""


class Units(NamedTuple):
    """Hidden units sigma(omega.v + b), omega (d, R), b (R,); for cosines in units of full turns."""

    omega: NDArray[np.float32]
    b: NDArray[np.float32]


@dataclass(frozen=True)
class WeightDistribution:
    """A law mu over the weights w of hidden units sigma(w.v + b).

    w ~ N(0, 2 g C / d) over all inputs; or, for interactions of few inputs, each unit uses only 2
    or 4 inputs, drawn by their relevance. C has mean diagonal 1. It is the identity at first and
    later the average outer product of the learned function's gradients [^1]: units are drawn where
    the function varies.

    References
    ----------
    [^1]: A. Radhakrishnan, D. Beaglehole, P. Pandit, M. Belkin. Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models. Science, 2024.

    """

    activation: Literal["cos", "relu"]
    bandwidth: float  # g: larger is wigglier
    sparse: bool  # whether a unit uses 2 or 4 inputs, alternately, rather than all
    recent: bool = False  # whether the last targets are inputs too

    def draw(
        self, size: int, agop: NDArray[np.float64], n_lags: int, rng: np.random.Generator
    ) -> Units:
        """Draw units; `agop` (d, d) is the average outer product of gradients, lags first."""
        d = len(agop)
        first = 0 if self.recent else n_lags
        weights = np.zeros((size, d))
        if d > first:
            weights[:, first:] = self._weights(size, agop[first:, first:], rng)
        if self.activation == "cos":
            b = rng.random(size)
            weights /= 2.0 * math.pi
        else:
            b = rng.standard_normal(size) * np.linalg.norm(weights, axis=1)
        omega = np.ascontiguousarray(weights.T, dtype=np.float32)
        return Units(omega, b.astype(np.float32))

    def _weights(
        self, size: int, agop: NDArray[np.float64], rng: np.random.Generator
    ) -> NDArray[np.float64]:
        d = len(agop)
        covariance = blended(agop)
        normals = rng.standard_normal((size, d))
        if not self.sparse:
            root = np.linalg.cholesky(covariance)
            return math.sqrt(2.0 * self.bandwidth / d) * normals @ root.T
        sd = np.sqrt(np.diag(covariance))
        n_inputs = np.where(np.arange(size) % 2 == 0, min(2, d), min(4, d))
        # The inputs with the smallest exponentials times 1 / sd are a draw without replacement, by
        # sd.
        times = rng.exponential(size=(size, d)) / sd
        chosen = times.argsort(axis=1).argsort(axis=1) < n_inputs[:, None]
        scale = np.sqrt(2.0 * self.bandwidth / n_inputs)[:, None]
        weights: NDArray[np.float64] = np.where(chosen, normals * scale * sd, 0.0)
        return weights


def blended(agop: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `agop` scaled to mean diagonal 1, with a floor of the identity under it.

    Return the identity if `agop` is 0 or not finite.
    """
    d = len(agop)
    level = np.trace(agop) / max(d, 1)
    if not level > 1e-300 or not all_finite(agop):
        return np.eye(d)
    blend: NDArray[np.float64] = (1.0 - FLOOR) * agop / level + FLOOR * np.eye(d)
    return blend


RIDGE = 0.1
HUBER = 2.0


class RLSSpec(NamedTuple):
    """Description of a ridge expert: ridge regression on random features, or linear if no prior."""

    name: str
    prior: WeightDistribution | None  # the law of its hidden units
    recent: bool = False  # whether the last targets are inputs too
    forgetting: float = 1.0  # lambda: the weight of the past is multiplied by this at each event
    renewed: bool = False  # whether it continues to be redrawn once the memory has lost history


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
        fresh = initial_covariance(D, ridge)[len(self.P) :] / self.record[SCALE]
        return RLSState(
            np.pad(self.omega, [(0, d - len(self.omega)), (0, 0)]),
            self.b,
            aligned(np.concatenate([self.P, fresh])),
            np.pad(self.pending, [(0, 0), (0, more)]),
            np.pad(self.theta, [(0, 0)] * (self.theta.ndim - 1) + [(0, more)]),
            self.record,
        )


class RLSBank(Expert):
    """Predictors f_k(v) = theta_k.phi_k(v), phi = [units, 1, 0.3 v, 0..], by exact least squares.

    Their arrays are stacked, so one call of a compiled loop serves all. Errors far above the mean
    error are down-weighted (Huber). One that forgets has its penalty renewed (no windup).

    Parameters
    ----------
    specs
        Descriptions of the K predictors.
    n_units
        R, the number of hidden units of each; 0 for linear ones.
    n_lags
        Number of last targets, the first entries of v.
    ridge
        Penalty on the squared weights, against squared errors of the scaled target.
    huber
        Errors beyond this many mean absolute errors count linearly.

    """

    kept = ("omega", "b", "linear", "P", "pending", "theta", "record", "drawn_at")
    fixed = ("b", "record", "drawn_at")
    scored: ClassVar[bool] = True
    """Whether a candidate is compared with the expert that it would replace."""

    def __init__(
        self,
        specs: tuple[RLSSpec, ...],
        n_units: int,
        n_lags: int,
        ridge: float = RIDGE,
        huber: float = HUBER,
    ) -> None:
        self.specs = specs
        self.names = tuple(spec.name for spec in specs)
        self.n_units = n_units
        self.n_lags = n_lags
        self.ridge = ridge
        self.huber = huber
        K, d, D = len(specs), n_lags, padded_size(n_units + 1 + n_lags)
        self.activation = np.array([CODES[e.prior.activation] if e.prior else COS for e in specs])
        self.forgetting = np.array([e.forgetting for e in specs])
        self.linear = np.ones((K, d))
        self._reset_linear()
        self.omega = np.zeros((K, d, n_units), np.float32)
        self.b = np.zeros((K, n_units), np.float32)
        self.P = aligned(np.tile(initial_covariance(D, self.ridge), (K, 1)))
        self.pending = np.zeros((K, WAITING, D))
        self.theta = np.zeros((K, D))
        # Of each predictor: rows learned, mean |error|, and the scale, number and factors of the
        # updates that P still lacks.
        self.record = np.tile(untrained_record(), (K, 1))
        self.drawn_at = np.zeros(K, np.int64)  # number of events when the units were drawn
        self._make_scratch()

    def _reset_linear(self) -> None:
        """Let all inputs enter linearly; the last targets, if the predictor sees them."""
        self.linear[:] = 1.0
        for k, spec in enumerate(self.specs):
            self.linear[k, : self.n_lags] = float(spec.recent)

    def _make_scratch(self) -> None:
        K, D = len(self.theta), self.theta.shape[-1]
        self._u = aligned(np.zeros((K, self.n_units), np.float32))
        self.phi = aligned(np.zeros((K, D)))
        self._gain = aligned(np.zeros(D))

    def widen(self, n_columns: int) -> None:
        """Append columns to v; new ones have weight 0, and no unit uses them yet."""
        K, d = self.omega.shape[:2]
        D = padded_size(self.n_units + 1 + d + n_columns)
        solutions = (RLSState(*(getattr(self, name)[k] for name in RLSState._fields))
                     for k in range(K))  # fmt: skip
        wider = [solution.widened(d + n_columns, D, self.ridge) for solution in solutions]
        for name, arrays in zip(RLSState._fields, zip(*wider, strict=True), strict=True):
            setattr(self, name, aligned(np.stack(arrays)))
        self.linear = np.pad(self.linear, [(0, 0), (0, n_columns)], constant_values=1.0)
        self._make_scratch()

    def widened(self, candidate: RLSState) -> RLSState:
        """Return a candidate begun before the last columns were added, as wide as the others."""
        return candidate.widened(self.omega.shape[1], self.theta.shape[-1], self.ridge)

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the call that writes the predictions to p (K,)."""
        arguments = (
            self.omega, self.b, self.activation, self.linear, self.theta, event.v, self._u,
            self.phi, p,
        )  # fmt: skip
        return [Call(predict_all, arguments)]

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        return [self.frozen_ridge(k, theta) for k, theta in enumerate(self.theta)]

    def frozen_ridge(self, k: int, theta: Vector) -> dict[str, Any]:
        """Return the form of a predictor on the features of the k-th, with these weights."""
        units = {
            "omega": self.omega[k],
            "b": self.b[k],
            "linear": self.linear[k],
            "activation": "cos" if self.activation[k] == COS else "relu",
        }
        n_features = self.n_units + 1 + self.linear.shape[1]
        return {"form": "ridge", "units": units, "theta": theta[..., :n_features]}

    def learning(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the call that learns t at the row last predicted."""
        solution = self.P, self.pending, self.theta, self.record
        settings = self.forgetting, self.ridge, self.huber
        observed = self.phi, p, event.at.t, event.at.weight
        return [Call(learn_all, (*solution, *observed, *settings, self._gain))]

    def updating_agop(self, rate: Scalar, agop: NDArray[np.float64], memory: Memory) -> Step:
        """Return the step that adds the last row's gradients to their mean outer products."""
        arguments = self.omega, self.activation, self.linear, self.theta, self._u, rate, agop
        return Call(update_agop, arguments)

    def untrained(self, units: Units) -> RLSState:
        """Return an untrained predictor with these units."""
        D = self.theta.shape[-1]
        P, pending = aligned(initial_covariance(D, self.ridge)), aligned(np.zeros((WAITING, D)))
        return RLSState(*units, P, pending, np.zeros(self.theta.shape[1:]), untrained_record())

    def replay(
        self, k: int, new: RLSState, memory: Memory, first: int, last: int, frame: ReplayStatistics
    ) -> float:
        """Train candidate expert k on events first..last - 1; return its weighted sum of errors."""
        return float(
            replay(
                memory.stored, first, last, frame, new, self.activation[k], self.linear[k],
                self.forgetting[k], self.ridge, self.huber,
            )
        )  # fmt: skip

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._make_scratch()

    def covariance(self, k: int) -> NDArray[np.float64]:
        """Return expert k's full covariance, (D, D)."""
        C = np.empty((self.theta.shape[-1],) * 2)
        for i in range(len(C)):
            column(self.P[k], self.pending[k], self.record[k], i, C[i])
        return C

    def broken_predictors(self) -> NDArray[np.bool_]:
        """Return which predictors have arrays that are not finite, (K,)."""
        arrays = [getattr(self, name) for name in RLSState._fields]
        return np.array(
            [not all(all_finite(each[k]) for each in arrays) for k in range(len(self.theta))]
        )

    def reinitialise(self, broken: Collection[str]) -> None:
        """Restart the broken predictors, without weights."""
        self._reset_linear()
        self.restart(self.broken_predictors())

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Restart the marked predictors (K,) without weights, and on their units.

        Units that are not finite are 0, which is 1 as a cosine, until others are drawn.
        """
        for k in np.flatnonzero(which).tolist():
            units = Units(
                np.nan_to_num(self.omega[k], posinf=0.0, neginf=0.0),
                np.nan_to_num(self.b[k], posinf=0.0, neginf=0.0),
            )
            self.put(k, self.untrained(units), int(self.drawn_at[k]))

    def put(self, k: int, solution: RLSState, n: int) -> None:
        """Replace predictor k by a solution on units that were drawn after n events."""
        for name, array in solution._asdict().items():
            getattr(self, name)[k] = array
        self.drawn_at[k] = n


def padded_size(n_features: int) -> int:
    """Return n_features rounded up to whole blocks; the padding features are always 0."""
    return -(-n_features // BLOCK) * BLOCK


def initial_covariance(D: int, ridge: float = RIDGE) -> NDArray[np.float64]:
    """Return the inverse of the penalty on D weights, as `row_start` lays it out."""
    P = np.zeros(row_start(D))
    for i in range(D):
        P[row_start(i) + i] = 1.0 / ridge
    return P


def untrained_record() -> NDArray[np.float64]:
    """Return the record of an untrained expert."""
    record = np.zeros(FACTORS + WAITING)
    record[SCALE] = 1.0
    return record
