"""Ridge experts for classification, one class against the rest."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.program import Scalar, Step
from iln_stream.kernels.ridges import (
    ReplayStatistics,
    learn_class_all,
    predict_classes,
    replay_classes,
    update_class_agop,
)
from iln_stream.learners.infinite_layer.expert import Expert, Observation, Vector
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank, RLSSpec, RLSState
from iln_stream.learners.infinite_layer.memory import Memory


class ClassRidges(RLSBank):
    """Experts f_kc(v) = theta_kc.phi_k(v), fitted to 1 where the class is c and 0 elsewhere.

    All classes share the units and the covariance of an expert, so one more class costs O(D). A new
    class has theta = 0, as its ridge regression on past events would give. An expert has R =
    `n_units` hidden units, or 0 if it is linear.
    """

    scored = False

    def __init__(self, specs: tuple[RLSSpec, ...], n_units: int) -> None:
        super().__init__(specs, n_units, n_lags=0)
        self.theta = np.zeros((len(specs), 0, self.phi.shape[1]))

    def add_class(self) -> None:
        """Make room for one more class."""
        self.theta = np.pad(self.theta, [(0, 0), (0, 1), (0, 0)])

    predicting, learning = Expert.predicting, Expert.learning

    def predict(self, event: Observation, p: Vector) -> None:
        """Write the scores to p (K, C)."""
        predict_classes(
            self.omega, self.b, self.activation, self.linear, self.theta, event.v, self._u,
            self.phi, p,
        )  # fmt: skip

    def learn(self, event: Observation, t: float, p: Vector) -> None:
        """Learn that the class of the row last predicted has the index t."""
        learn_class_all(
            self.P, self.pending, self.theta, self.record, self.phi, int(t), event.weight,
            self._gain,
        )  # fmt: skip

    def updating_agop(self, rate: Scalar, agop: NDArray[np.float64], memory: Memory) -> Step:
        return lambda: update_class_agop(
            self.omega, self.activation, self.linear, self.theta, self._u, float(rate), agop,
            memory.n,
        )  # fmt: skip

    def replay(
        self, k: int, new: RLSState, memory: Memory, first: int, last: int, frame: ReplayStatistics
    ) -> float:
        """Train candidate expert k on events first..last - 1; return 0, as it is not scored."""
        replay_classes(
            memory.stored, first, last, frame.stats, new, self.activation[k], self.linear[k]
        )
        return 0.0
