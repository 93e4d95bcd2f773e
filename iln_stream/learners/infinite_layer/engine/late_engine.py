"""Engines that see the last targets, and what they do from the first late label on."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from iln_stream.learners.infinite_layer.engine.engine import Engine
from iln_stream.learners.infinite_layer.engine.fresh_targets import MOST_DELAY, FreshTargets
from iln_stream.learners.infinite_layer.engine.healer import Healer
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.observation import Vector


class LateEngine(Engine):
    """Has `FreshTargets` from the first label on that is a few events late.

    Parameters
    ----------
    inputs
        Turns named inputs into rows.
    n_lags
        Number of last targets that are inputs, too; with 0 there is nothing to learn from them.
    squared
        Whether rules minimise squared errors.

    """

    healer: Healer

    def __init__(self, inputs: Inputs, n_lags: int, *, squared: bool) -> None:
        super().__init__(inputs)
        self._n_lags = n_lags
        self._squared = squared
        self.fresh: FreshTargets | None = None

    @property
    def n(self) -> int:
        """Events learned."""
        raise NotImplementedError

    def _require_fresh(self, delay: int) -> None:
        """Have them if a label is late by so many events, and if there are last targets."""
        if self.fresh is None and self._n_lags and 0 < delay <= MOST_DELAY:
            self._begin_fresh()

    def _begin_fresh(self) -> None:
        self.fresh = FreshTargets(self._n_lags, len(self.inputs), squared=self._squared)
        self.healer.add("fresh-targets", self.fresh)

    def _teach_fresh(
        self, value: float | None, t: float, w: float, seen: Vector, known: Vector, delay: int
    ) -> None:
        """Let `FreshTargets` learn the scaled target: see there."""
        assert self.fresh is not None
        if not self.fresh.learn(value, t, w, seen, known, delay):
            self.healer.restart_all([(self.fresh, np.ones(1, bool))], self.n)

    def _with_fresh(self, weights: dict[str, float]) -> dict[str, float]:
        """Return the experts' weights in the prediction, given those without `FreshTargets`."""
        return weights if self.fresh is None else self.fresh.shares(weights)

    def state(self) -> dict[str, Any]:
        """Return the state; that of `FreshTargets` is in it once there are any."""
        return super().state() | ({} if self.fresh is None else {"fresh": self.fresh.state()})

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore({name: each for name, each in state.items() if name != "fresh"})
        if "fresh" in state:
            self._begin_fresh()
            assert self.fresh is not None
            self.fresh.restore(state["fresh"])
