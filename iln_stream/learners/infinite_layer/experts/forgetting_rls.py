"""An expert that follows drift."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from iln_stream.kernels.program import Call, Step, scalar
from iln_stream.kernels.ridges import learn_blocks, predict_blocks
from iln_stream.learners.infinite_layer.expert import Observation, Vector
from iln_stream.learners.infinite_layer.experts.rls_bank import HUBER, RIDGE, RLSBank
from iln_stream.learners.infinite_layer.experts.sleepers import Sleeper
from iln_stream.learners.infinite_layer.part import aligned

BLOCK = 32


class ForgettingRLS(Sleeper):
    """Another expert's features, with its own weights, which forget.

    Recursive least squares on blocks of 32 features, at a tenth of the cost of the exact one. It
    restarts from the other expert's weights whenever that expert's units were redrawn. It follows
    the k-th expert of a bank. The weight of the past is multiplied by `forgetting`, lambda, at each
    event.
    """

    names = ("forgetting-rls",)
    kept = ("n_features", "P", "theta", "record", "followed_at")
    fixed = ("record",)

    def __init__(self, bank: RLSBank, k: int, forgetting: float) -> None:
        self.bank = bank
        self.followed = k
        self.forgetting = forgetting
        self.n_features = 0
        self.followed_at = 0  # number of events when the units that it uses were drawn
        self.P = np.zeros((0, BLOCK, BLOCK))
        self.theta = np.zeros(0)
        self.record = np.zeros(2)  # events learned, running mean |error|
        self.widen(bank.n_units + 1 + bank.n_lags)

    def widen(self, n_columns: int) -> None:
        """Append room for features."""
        self.n_features += n_columns
        more = -(-self.n_features // BLOCK) - len(self.P)
        self.P = aligned(np.concatenate([self.P, np.tile(np.eye(BLOCK) / RIDGE, (more, 1, 1))]))
        self.theta = aligned(np.pad(self.theta, (0, more * BLOCK)))
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._phi = aligned(np.zeros(len(self.theta)))
        self._gain = aligned(self._phi)

    def _follow(self) -> None:
        """Restart from the weights and the covariance of the expert on its new units."""
        D, covariance = self.n_features, self.bank.covariance(self.followed)
        self.followed_at = int(self.bank.drawn_at[self.followed])
        self.theta[:] = 0.0
        self.theta[:D] = self.bank.theta[self.followed, :D]
        full = np.eye(len(self.theta)) / RIDGE
        full[:D, :D] = covariance[:D, :D]
        for u in range(len(self.P)):
            self.P[u] = full[u * BLOCK : (u + 1) * BLOCK, u * BLOCK : (u + 1) * BLOCK]

    def begin_anew(self) -> None:
        """Forget the past; the expert that it follows has done so."""
        self.followed_at = int(self.bank.drawn_at[self.followed])
        self.P[:] = np.eye(BLOCK) / RIDGE
        self.theta[:] = 0.0
        self.record[:] = 0.0

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the call that predicts from the features of the expert that it follows."""
        arguments = self.theta, self.bank.phi[self.followed], self._phi
        return [Call(predict_blocks, arguments, (scalar(p),))]

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        return [self.bank.frozen_ridge(self.followed, self.theta)]

    def learning(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the call that learns t at the features of the last prediction."""
        arguments = (
            self.P, self.theta, self.record, self._phi, self._gain, event.at.t, scalar(p),
            event.at.weight, self.forgetting, RIDGE, HUBER,
        )  # fmt: skip
        return [Call(learn_blocks, arguments)]

    def learned(self, event: Observation) -> bool:
        """Restart from the expert that it follows, if that has new units."""
        if self.bank.drawn_at[self.followed] != self.followed_at:
            self._follow()
        return False

    def reinitialise(self, broken: Collection[str]) -> None:
        """Restart from the expert that it follows."""
        self.record[:] = 0.0
        self._follow()

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._make_scratch()
