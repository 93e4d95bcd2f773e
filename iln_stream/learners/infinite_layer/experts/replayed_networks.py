"""Networks whose units move, as experts: they go on learning as long as the stream does."""

from typing import NamedTuple

import numpy as np

from iln_stream.compiled.network_layout import Shape
from iln_stream.compiled.replay_ring import N_LAGS
from iln_stream.learners.infinite_layer.engine.expert import Expert
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.observation import Observation, Vector
from iln_stream.learners.infinite_layer.engine.target import Target
from iln_stream.learners.infinite_layer.experts.replay_ring import ReplayRing
from iln_stream.learners.infinite_layer.experts.replayed_network import ReplayedNetwork

SLEEP = 64
"""Events before the networks take part."""


class ReplayedNetworks(Expert):
    """Several networks that replay events of one ring.

    Parameters
    ----------
    shapes
        Sizes and pace of each network, by name.
    size
        Events in the ring.
    inputs, target, memory
        Of the learner that they belong to.
    key
        Seeds weights and draws.

    """

    parts = ("ring",)

    def __init__(
        self,
        shapes: dict[str, Shape],
        size: int,
        inputs: Inputs,
        target: Target,
        memory: Memory,
        key: int,
    ) -> None:
        self.inputs = inputs
        self.target = target
        self.memory = memory
        self.ring = ReplayRing(size)
        self.networks = {
            name: ReplayedNetwork(shape, self.ring, key + i)
            for i, (name, shape) in enumerate(shapes.items())
        }
        self.names = tuple(f"{name}{end}" for name in shapes for end in ("", "-short", "-long"))

    @property
    def asleep(self) -> bool:
        return self.memory.n < SLEEP

    def widen(self, n_columns: int) -> None:
        columns = n_columns + (N_LAGS if self.ring.n_columns == N_LAGS else 0)
        self.ring.widen(n_columns)
        for network in self.networks.values():
            network.widen(columns)

    def predict(self, event: Observation, p: Vector) -> None:
        p[:] = 0.0
        if self.ring.n == 0:
            return
        self.ring.look(event.row)
        for i, network in enumerate(self.networks.values()):
            network.predict(p[3 * i : 3 * i + 3])

    def learn(self, event: Observation, t: float, p: Vector) -> None:
        memory = self.memory
        y = float(memory.y[(memory.n - 1) % len(memory.y)])
        self.ring.put(event.row, y, self.inputs.stats, self.target.stats)
        for network in self.networks.values():
            network.learn(self.target.stats)
