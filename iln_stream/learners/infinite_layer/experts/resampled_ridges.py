"""Ridge experts whose hidden units are drawn where the learned function varies."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.target import unscale
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.observation import Observation, Vector
from iln_stream.learners.infinite_layer.engine.target import Target
from iln_stream.learners.infinite_layer.experts.feature_resampler import FeatureResampler
from iln_stream.learners.infinite_layer.experts.rls_bank import RLSBank
from iln_stream.learners.infinite_layer.experts.sleepers import Sleeper
from iln_stream.state import all_finite

GRADIENTS = 500.0
"""Number of events over which outer products of gradients are averaged, about."""


class ResampledRidges(Sleeper):
    """Ridge experts on random features, whose units are redrawn from what was learned.

    Parameters
    ----------
    bank
        The experts.
    inputs, target, memory
        Of the learner that they belong to.
    key
        Two words that seed the draws.
    resampled
        Whether units are redrawn; otherwise the first ones are the last.

    """

    kept = ("agop",)
    parts = ("bank", "resampler")

    def __init__(
        self,
        bank: RLSBank,
        inputs: Inputs,
        target: Target,
        memory: Memory,
        key: NDArray[np.uint64],
        *,
        resampled: bool = True,
    ) -> None:
        self.bank = bank
        self.names = bank.names
        self.memory = memory
        self.resampled = resampled
        self.agop = np.tile(np.eye(bank.n_lags), (len(bank.specs), 1, 1))
        self.resampler = FeatureResampler(bank, inputs, target, memory, key)

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, and schedule a redraw that uses them."""
        K, d = self.agop.shape[:2]
        self.bank.widen(n_columns)
        agop = np.tile(np.eye(d + n_columns), (K, 1, 1))
        agop[:, :d, :d] = self.agop
        self.agop = agop
        if not self.bank.omega.any():  # these are the first columns
            self.resampler.draw_first(self.agop)
        elif self.resampled:
            self.resampler.schedule_redraw_for_new_columns()

    def begin_anew(self) -> None:
        """Forget the past: units are drawn, and redrawn, as at first."""
        self.agop[:] = np.eye(self.agop.shape[1])
        self.resampler.begin_anew(self.agop)
        self.asleep = False

    def predict(self, event: Observation, p: Vector) -> None:
        """Write the experts' predictions to p."""
        self.bank.predict(event, p)

    def learn(self, event: Observation, t: float, p: Vector) -> None:
        """Train the experts, update their gradients, and do a share of a redraw."""
        if self.bank.scored:
            stored = self.resampler.predictions[(self.memory.n - 1) % len(self.memory.y)]
            unscale(p, event.center, event.unit, stored)
        self.bank.learn(event, t, p)
        if self.resampled:
            learned = self.memory.n - self.resampler.since
            rate = 1.0 / min(1.0 + learned / 4.0, GRADIENTS)
            self.bank.update_agop(rate, self.agop)
            self.resampler.advance(self.agop)

            if self.asleep is not False:
                self.asleep = self.resampler.asleep

    def reinitialise(self, broken: Collection[str]) -> None:
        """Restart the broken experts, and forget gradients and a candidate that are broken."""
        self.agop[~np.isfinite(self.agop).all(axis=(1, 2))] = 0.0
        self.resampler.reinitialise(
            {name.removeprefix("resampler.") for name in broken if name.startswith("resampler.")}
        )
        which = self.bank.broken_predictors()
        units = np.array([all_finite(each) for each in self.bank.omega])
        units &= np.isfinite(self.bank.b).all(axis=1)
        self.bank.reinitialise(())
        self._rebuild(which, ~units)

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Restart the marked experts (K,)."""
        self.bank.restart(which)
        self._rebuild(which, np.zeros(len(which), bool))

    def _rebuild(self, which: NDArray[np.bool_], redrawn: NDArray[np.bool_]) -> None:
        """Give experts without weights ones learned from the memory, some on new units at once."""
        for k in np.flatnonzero(redrawn).tolist():
            self.resampler.draw(k, self.agop)
        if self.resampled:
            self.resampler.rebuild(np.flatnonzero(which).tolist())
            self.asleep = self.resampler.asleep

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        self.asleep = self.resampler.asleep

    def relevance(self, k: int) -> Vector:
        """Return the mean square, (d,), of the gradient of expert k along each input."""
        n_lags = self.bank.n_lags
        return np.diag(self.agop[k, n_lags:, n_lags:])
