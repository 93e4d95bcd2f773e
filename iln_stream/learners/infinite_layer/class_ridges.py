"""Ridge experts for classification, one class against the rest."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import class_ridges as kernels
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.rls_bank import Frame, RLSBank, RLSSpec, RLSState


class ClassRidges(RLSBank):
    """Experts f_kc(v) = theta_kc.phi_k(v), fitted to 1 where the class is c and 0 elsewhere.

    All classes share the units and the covariance of an expert, so one more class costs O(D). A
    new class has theta = 0, as its ridge regression on past events would give.

    Parameters
    ----------
    experts
        The K experts.
    size
        R, the number of hidden units of each; 0 for linear experts.

    """

    def __init__(self, experts: tuple[RLSSpec, ...], size: int) -> None:
        super().__init__(experts, size, n_lags=0)
        self.theta = np.zeros((len(experts), 0, self.phi.shape[1]))

    def add_class(self) -> None:
        """Make room for one more class."""
        self.theta = np.pad(self.theta, [(0, 0), (0, 1), (0, 0)])

    def predict(self, v: NDArray[np.float64], p: NDArray[np.float64]) -> None:
        """Write the scores at v (d,) into p (K, C)."""
        kernels.predict_classes(
            self.omega, self.b, self.activation, self.linear, self.theta, v, self._u, self.phi, p
        )

    def learn_label(self, label: int) -> None:
        """Learn the class of the row last predicted."""
        kernels.learn_class_all(
            self.P, self.pending, self.theta, self.record, self.phi, label, self._k
        )

    def sense(self, rate: float) -> None:
        """Add the gradients at the row last predicted to the average of their outer products."""
        kernels.class_relevance_all(
            self.omega, self.activation, self.linear, self.theta, self._u, rate, self.outer
        )

    def replay(
        self, k: int, new: RLSState, memory: Memory, first: int, last: int, frame: Frame
    ) -> float:
        """Train candidate expert k on events first..last - 1; return 0, as it is not scored."""
        kernels.replay_classes(
            memory.columns, memory.y, first, last, frame.stats, new.omega, new.b,
            self.activation[k], self.linear[k], new.P, new.pending, new.theta, new.record,
        )  # fmt: skip
        return 0.0
