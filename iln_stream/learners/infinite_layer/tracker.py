"""An expert that follows drift."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import block_ridge as kernels
from iln_stream.compiled.recursive_ridge import dot
from iln_stream.compiled.target import FENCE
from iln_stream.learners.clipping import clipped
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.infinite_layer.rls_bank import HUBER, RIDGE

BLOCK = 32


class Tracker(Part):
    """Another expert's features, with its own weights, which forget.

    Recursive least squares on blocks of 32 features, at a tenth of the cost of the exact one. It
    restarts from the other expert's weights whenever that expert's features are redrawn.

    Parameters
    ----------
    n_features
        D, the number of features of the expert it follows.
    forgetting
        lambda: the weight of the past is multiplied by this at each event.

    """

    kept = ("n_features", "P", "theta", "record")

    def __init__(self, n_features: int, forgetting: float) -> None:
        self.forgetting = forgetting
        self.n_features = 0
        self.P = np.zeros((0, BLOCK, BLOCK))
        self.theta = np.zeros(0)
        self.record = np.zeros(2)
        self.widen(n_features)

    def widen(self, n_columns: int) -> None:
        """Append room for features."""
        self.n_features += n_columns
        more = -(-self.n_features // BLOCK) - len(self.P)
        self.P = np.concatenate([self.P, np.tile(np.eye(BLOCK) / RIDGE, (more, 1, 1))])
        self.theta = np.pad(self.theta, (0, more * BLOCK))
        self._phi = np.zeros(len(self.theta))
        self._k = np.zeros(len(self.theta))

    def follow(self, theta: NDArray[np.float64], covariance: NDArray[np.float64]) -> None:
        """Restart from an expert with new features: its weights (D,) and its covariance (D, D)."""
        D = self.n_features
        self.theta[:D] = theta[:D]
        full = np.eye(len(self.theta)) / RIDGE
        full[:D, :D] = covariance[:D, :D]
        for u in range(len(self.P)):
            self.P[u] = full[u * BLOCK : (u + 1) * BLOCK, u * BLOCK : (u + 1) * BLOCK]

    def predict(self, phi: NDArray[np.float64]) -> float:
        """Return the prediction from the first features of phi."""
        self._phi[: self.n_features] = phi[: self.n_features]
        return clipped(float(dot(self.theta, self._phi)), FENCE)

    def learn(self, t: float, p: float) -> None:
        """Learn t at the features of the last prediction, which was p."""
        kernels.learn_blocks(
            self.P, self.theta, self.record, self._phi, self._k, t, p,
            self.forgetting, RIDGE, HUBER,
        )  # fmt: skip
