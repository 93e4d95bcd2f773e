"""The parts of a single random-feature ridge, and how an event passes through them."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.feature_resampler import NEVER, FeatureResampler
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.infinite_layer.rls_bank import RLSBank, RLSSpec
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.learners.infinite_layer.weight_distribution import WeightDistribution

MEMORY = 2048
PARTS = ("inputs", "target", "ridge", "memory", "redraws")


class OneRidge(Part):
    """Inputs, target, one expert, and its redraws; see `RandomFeatureRidge` for the parameters."""

    kept = ()

    def __init__(
        self,
        n_features: int,
        regularization: float,
        forgetting: float,
        huber: float,
        activation: Literal["cos", "relu"],
        bandwidth: float,
        redrawn: bool,
        seed: int | None,
        max_columns: int,
    ) -> None:
        key = np.random.SeedSequence(seed).generate_state(2, np.uint64).astype(np.uint64)
        prior = WeightDistribution(activation, bandwidth, sparse=False)
        expert = RLSSpec("ridge", prior, forgetting=forgetting)
        self.inputs = Inputs(max_columns)
        self.target = Target()
        self.ridge = RLSBank((expert,), n_features, 0, regularization, huber)
        self.memory = Memory(MEMORY if redrawn else 1, 0, 1)
        self.redraws = FeatureResampler(key, 1)
        self.redrawn = redrawn
        if not redrawn:
            self.redraws.next_at = NEVER
        self._p = np.zeros(1)
        self._make_scratch()

    def _make_scratch(self) -> None:
        self._z = np.zeros(len(self.inputs))
        self._row = np.zeros(len(self.inputs))
        self._seen: bytes | None = None

    def predict(self, x: Mapping[Any, float]) -> float:
        """Return the prediction for x."""
        row = self.inputs.row(x)
        self._look(row)
        self._seen = row.tobytes()
        return self.target.raw(float(self._p[0]))

    def learn(self, x: Mapping[Any, float], y: float) -> None:
        """Learn that y is the target of x."""
        row = self.inputs.admit(x)
        if len(row) > len(self._row):
            self._widen(len(row) - len(self._row))
        if row.tobytes() != self._seen:
            self._look(row)
        self._seen = None
        memory, target = self.memory, self.target
        prediction = target.raw(float(self._p[0]))
        self.inputs.join(row)
        target.join(y)
        memory.put(self._row, memory.lags[0], y, np.array([prediction]))
        self.ridge.learn(target.scaled(y), self._p)
        if self.redrawn:
            self.ridge.sense(1.0 / min(1.0 + memory.n / 4.0, 500.0))
            self.redraws.work(self.ridge, self.inputs, target, memory)

    def relevance(self) -> dict[Any, float]:
        """Return each input's share in how the function varies."""
        diagonal = np.diag(self.ridge.outer[0])
        total = diagonal.sum()
        shares = diagonal / total if total > 0.0 else diagonal
        return dict(zip(self.inputs.columns.place, shares.tolist(), strict=True))

    def _look(self, x: NDArray[np.float64]) -> None:
        self.inputs.standardise(x, self._row, self._z)
        self.ridge.predict(self._z, self._p)

    def _widen(self, n_columns: int) -> None:
        self.ridge.widen(n_columns)
        self.memory.widen(n_columns)
        if not self.ridge.omega.any():  # these are the first columns
            units = self.ridge.drawn(0, self.redraws.rng(0, 0))
            self.ridge.put(0, self.ridge.newborn(units))
        elif self.redrawn:
            self.redraws.columns_came(self.ridge, self.memory)
        self._make_scratch()

    def state(self) -> dict[str, Any]:
        """Return the state of all parts."""
        return {name: getattr(self, name).state() for name in PARTS}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        d = state["inputs"]["stats"].shape[1]
        self.ridge.widen(d)
        self.memory.widen(d)
        for name in PARTS:
            getattr(self, name).restore(state[name])
        self._make_scratch()
