"""Networks whose units move, as experts: they go on learning as long as the stream does."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled.network_layout import Shape
from iln_stream.compiled.replay_ring import EVENTS, N_LAGS
from iln_stream.learners.infinite_layer.engine.expert import Expert
from iln_stream.learners.infinite_layer.engine.inputs import Inputs
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.engine.observation import Observation, Vector
from iln_stream.learners.infinite_layer.engine.target import Target
from iln_stream.learners.infinite_layer.experts.replay_ring import ReplayRing
from iln_stream.learners.infinite_layer.experts.replayed_network import (
    PREDICTIONS,
    ReplayedNetwork,
)
from iln_stream.learners.infinite_layer.part import require_fields

WAKES_AT = 64
"""Events that the networks learn before their predictions count."""

RECOVERY = 1024
"""Events that all networks learn, after one was drawn anew, before their predictions count."""


ALL = tuple(PREDICTIONS)


class ReplayedNetworks(Expert):
    """Networks trained by stochastic gradients on each event and on past ones.

    The paper learns f for a fixed distribution mu of hidden units; redraws reshape mu. Here the
    units move: a network of R units is a sample of mu, and gradient descent on its weights is a
    gradient flow of mu [^1]. Each network predicts by its weights, by two running averages of
    them, or by some of these three: under `NAME`, `NAME-short` and `NAME-long`.

    Parameters
    ----------
    shapes
        Sizes and pace of each network, by name.
    ends
        How each network predicts, by its name: "", "-short", "-long"; by default all three.
    size
        Events in the ring that the networks replay.
    inputs, target, memory
        Of the learner that they belong to.
    key
        Two words that seed weights and draws.

    References
    ----------
    [^1]: L. Chizat, F. Bach. On the global convergence of gradient descent for over-parameterized
    models using optimal transport. NeurIPS 2018.

    """

    kept = ("wakes_at",)
    parts = ("ring",)
    own = ("networks",)

    def __init__(
        self,
        shapes: Mapping[str, Shape],
        ends: Mapping[str, tuple[str, ...]],
        size: int,
        inputs: Inputs,
        target: Target,
        memory: Memory,
        key: NDArray[np.uint64],
    ) -> None:
        self.inputs = inputs
        self.target = target
        self.memory = memory
        self.ring = ReplayRing(size)
        seeds = np.random.SeedSequence([int(word) for word in key]).generate_state(
            len(shapes), np.uint64
        )
        self.networks = {
            name: ReplayedNetwork(shape, self.ring, int(seed), ends.get(name, ALL))
            for (name, shape), seed in zip(shapes.items(), seeds, strict=True)
        }
        self.names = tuple(
            f"{name}{end}" for name, network in self.networks.items() for end in network.ends
        )
        self.wakes_at = WAKES_AT
        self.asleep = True

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, with weights 0 unless they are the first."""
        self.ring.widen(n_columns)
        for network in self.networks.values():
            network.widen(n_columns)

    def predict(self, event: Observation, p: Vector) -> None:
        """Write each network's predictions to p."""
        n = self.ring.record[EVENTS]
        if n == 0.0 or not np.isfinite(n):
            p[:] = n - n  # 0, or nan
            return
        self.ring.look(event.row, event.delay)
        first = 0
        for network in self.networks.values():
            last = first + len(network.ends)
            network.predict(p[first:last])
            first = last

    def learn(self, event: Observation, t: float, p: Vector) -> None:
        """Store the event, whose target is already in the memory, and take a step."""
        memory = self.memory
        y = float(memory.y[(memory.n - 1) % len(memory.y)])
        self.ring.put(event.row, y, self.inputs.stats, self.target.stats, event.delay, event.weight)
        for network in self.networks.values():
            if self.ring.n == 1 and not network.parameters.any():
                network.begin()  # no input came with the first event
            network.learn(self.target.stats)
        self.asleep = self.ring.n < self.wakes_at

    def relevance(self, weights: Vector) -> Vector:
        """Return the mean squared slope along each input, (d,), by predictions' weights (n,)."""
        found, first = np.zeros(self.ring.n_columns - N_LAGS), 0
        for network in self.networks.values():
            last = first + len(network.ends)
            found += weights[first:last].sum() * network.sensitivity()
            first = last
        return found

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the arrays of the networks, too."""
        yield from super().floats()
        for name, network in self.networks.items():
            for field, array in network.floats():
                yield f"{name}.{field}", array

    def reinitialise(self, broken: Collection[str]) -> None:
        """Refill the ring, and draw new weights for broken networks."""
        n = self.ring.record[EVENTS]
        self.ring.refill(self.memory, self.inputs.stats, self.target.stats)
        if not self.ring.n >= n:  # it begins with the memory's events, and so do the networks
            self._sleep()
        for network in self.networks.values():
            if network.heal():
                self._sleep()

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Draw new weights for the networks whose predictions are marked."""
        first = 0
        for network in self.networks.values():
            last = first + len(network.ends)
            if which[first:last].any():
                network.begin()
                self._sleep()
            first = last

    def _sleep(self) -> None:
        """Let the other experts predict until the ring has trained the new weights."""
        self.wakes_at = self.ring.n + RECOVERY
        self.asleep = True

    def state(self) -> dict[str, Any]:
        """Return the states of the ring and of the networks, by name."""
        networks = {name: network.state() for name, network in self.networks.items()}
        return super().state() | {"networks": networks}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        require_fields(type(self).__name__, state["networks"], self.networks)
        for name, network in self.networks.items():
            network.restore(state["networks"][name])
        self.asleep = self.ring.n < self.wakes_at
