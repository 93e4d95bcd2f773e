"""Networks whose units move, for classes."""

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import COUNT, MEAN, SQUARES, no_statistics
from iln_stream.kernels.network_events import Pace, learn_class_network, predict_class_network
from iln_stream.kernels.networks import GRADIENT_SQUARES, Shape, n_fixed, n_of_column, weights_of
from iln_stream.kernels.replay_ring import EVENTS
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.networks import (
    RECOVERY,
    WAKES_AT,
    ReplayedNetwork,
    ReplayRing,
)
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part, require_fields
from iln_stream.learners.infinite_layer.target import Target

ENDS = ("-short", "-long")
N_PREDICTIONS = len(ENDS)

EARLY = 1024
"""Events at each of which the networks take a step."""


class ClassNetwork(ReplayedNetwork):
    """A `ReplayedNetwork` for the log loss: one logit for two classes, otherwise one for each.

    It predicts by two averages of its weights. The logits start at 0, so that the first predictions
    are the classes' frequencies; so does the logit of a class that comes later. The ring has the
    events, also those of other networks; targets are the classes' indices.
    """

    def __init__(self, shape: Shape, pace: Pace, ring: ReplayRing, key: int) -> None:
        super().__init__(shape, ring, key, ENDS)
        self._pace = tuple(pace)

    def add_class(self, n_classes: int) -> None:
        """Make room for one more class; now there are `n_classes`."""
        if n_classes > 2:
            shape = self.shape._replace(outputs=n_classes)
            self.parameters = _with_more_outputs(self.parameters, self.shape, shape)
            self.shape = shape
            self._make_scratch()

    def predict_classes(self, offsets: NDArray[np.float64], p: NDArray[np.float64]) -> None:
        """Write the probabilities at the ring's inputs to p (2, C); offsets (C,) are added."""
        ring = self._ring
        predict_class_network(*self._plain, ring.encoding, ring.inputs, offsets, self._scratch, p)

    def learn_classes(self, offsets: NDArray[np.float64]) -> None:
        """Take one step on the ring's newest event and on draws."""
        ring = self._ring
        learn_class_network(
            *self._plain, ring.ring, ring.encoding, offsets, self._pace, self._scratch
        )

    def restore_classes(self, state: Mapping[str, Any], n_classes: int) -> None:
        """Resume from a state that `state` returned when there were `n_classes`."""
        self.shape = self.shape._replace(outputs=n_classes if n_classes > 2 else 1)
        self.restore(state)


def _with_more_outputs(
    parameters: NDArray[np.float32], old: Shape, shape: Shape
) -> NDArray[np.float32]:
    """Return the parameters of a network with further outputs; their weights are 0.

    The one logit w of two classes becomes -w/2 and w/2.
    """
    n1, n3 = old.first, old.outputs
    L = (parameters.shape[1] - n_fixed(old)) // n_of_column(old)
    wide = np.zeros((len(parameters), n_fixed(shape) + L * n_of_column(shape)), np.float32)
    signs = np.ones((1, 1), np.float32) if n3 > 1 else np.array([[-0.5], [0.5]], np.float32)
    for k in range(len(parameters)):
        a, b = weights_of(parameters[k], old), weights_of(wide[k], shape)
        factors = signs**2 if k == GRADIENT_SQUARES else signs
        known = len(factors * a.w3)
        b.W2[:], b.b1[:], b.b2[:] = a.W2, a.b1, a.b2
        b.w3[:known] = factors * a.w3
        b.b3[0, :known] = factors[:, 0] * a.b3[0, :n3]
        b.columns[:, :n1] = a.columns[:, :n1]
        b.columns[:, n1 : n1 + known] = a.columns[:, n1 : n1 + n3] * factors.T
        U = old.piecewise * 15
        b.columns[:, b.columns.shape[1] - U :] = a.columns[:, a.columns.shape[1] - U :]
    return wide


UNSCALED = no_statistics(1)
"""Statistics by which any two labels are the same: of three classes and more the indices mean
nothing, so the networks must not see the last labels."""
UNSCALED[[COUNT, MEAN, SQUARES], 0] = 1.0, 0.0, 1e300


class ClassNetworks(Part):
    """Networks trained by stochastic gradients of the log loss, on each event and on past ones.

    Like `ReplayedNetworks`, but they predict probabilities. Of two classes the last two labels are
    inputs, too, where labels depend on the ones before them. `key`, two words, seeds weights and
    draws. After the first `EARLY` events they take a step at each `every`-th event only.
    """

    kept = ("n_classes", "wakes_at")
    parts = ("ring", "labels")
    own = ("networks",)

    def __init__(
        self,
        networks: Mapping[str, tuple[Shape, Pace]],
        size: int,
        inputs: Inputs,
        memory: Memory,
        key: NDArray[np.uint64],
        every: int = 1,
    ) -> None:
        self.every = every
        self.inputs = inputs
        self.memory = memory
        self.labels = Target()
        self.ring = ReplayRing(size)
        seeds = np.random.SeedSequence([int(word) for word in key]).generate_state(
            len(networks), np.uint64
        )
        self.networks = {
            name: ClassNetwork(shape, pace, self.ring, int(seed))
            for (name, (shape, pace)), seed in zip(networks.items(), seeds, strict=True)
        }
        self.names = tuple(f"{name}{end}" for name in networks for end in ENDS)
        self.n_classes = 0
        self.wakes_at = WAKES_AT

    @property
    def asleep(self) -> bool:
        """Whether the predictions don't count now; the networks learn all the same."""
        return not self.ring.record[EVENTS] >= self.wakes_at  # nan does not count either

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, with weights 0 unless they are the first."""
        self.ring.widen(n_columns)
        for network in self.networks.values():
            network.widen(n_columns)

    def add_class(self) -> None:
        """Make room for one more class."""
        self.n_classes += 1
        for network in self.networks.values():
            network.add_class(self.n_classes)

    def predict(
        self, event: Observation, offsets: NDArray[np.float64], p: NDArray[np.float64]
    ) -> None:
        """Write each network's probabilities to p (2 N, C); those of a broken one are not finite.

        The logarithms of the classes' frequencies, offsets (C,), are added to the logits.
        """
        if not math.isfinite(self.ring.record[EVENTS]):
            p[:] = np.nan
            return
        self.ring.look(event.row, event.delay)
        for i, network in enumerate(self.networks.values()):
            network.predict_classes(offsets, p[N_PREDICTIONS * i : N_PREDICTIONS * (i + 1)])

    def frozen(self) -> dict[str, Any]:
        """Return the weights of each prediction, and how inputs are encoded."""
        networks = [form for network in self.networks.values() for form in network.frozen()]
        return {"networks": networks, "encoded": self.ring.frozen()}

    def learn(self, event: Observation, label: int, offsets: NDArray[np.float64]) -> None:
        """Store the event, which has joined the inputs' statistics, and take a step."""
        if self.n_classes <= 2:
            self._join(label)
        self.ring.put(
            event.row, float(label), self.inputs.stats, self._scale, event.delay, event.weight
        )
        n = self.ring.n
        step = self.n_classes > 1 and (n <= EARLY or n % self.every == 0)
        for network in self.networks.values():
            if n == 1 and not network.parameters.any():
                network.begin()  # no input came with the first event
            if step:
                network.learn_classes(offsets)

    @property
    def _scale(self) -> NDArray[np.float64]:
        """Statistics of the labels, by which the last two are encoded."""
        return self.labels.stats if self.n_classes <= 2 else UNSCALED

    def _join(self, label: int) -> None:
        """Add a label, 0 or 1, to the exact mean and variance: a rare one is no outlier."""
        stats = self.labels.stats
        n, share = float(stats[COUNT, 0]) + 1.0, float(stats[MEAN, 0])
        share += (label - share) / n
        stats[COUNT, 0], stats[MEAN, 0], stats[SQUARES, 0] = n, share, n * share * (1.0 - share)

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the arrays of the networks, too."""
        yield from super().floats()
        for name, network in self.networks.items():
            for field, array in network.floats():
                yield f"{name}.{field}", array

    def reinitialise(self, broken: Collection[str]) -> None:
        """Refill the ring from the memory, and draw new weights for broken networks."""
        memory, ring = self.memory, self.ring
        if "labels.stats" in broken:
            self.labels.stats[:] = no_statistics(1)
            for i in memory.slots():
                self._join(int(memory.y[i]))
        n = ring.record[EVENTS]
        if "ring.targets" in broken:
            ring.record[:] = np.nan  # labels can't be guessed: only the memory's events remain
        ring.refill(memory, self.inputs.stats, self._scale)
        if not ring.n >= n:
            self._sleep()
        for network in self.networks.values():
            if network.heal():
                self._sleep()

    def restart(self, which: NDArray[np.bool_]) -> None:
        """Draw new weights for the networks whose predictions (2 N,) are marked."""
        for i, network in enumerate(self.networks.values()):
            if which[N_PREDICTIONS * i : N_PREDICTIONS * (i + 1)].any():
                network.begin()
                self._sleep()

    def _sleep(self) -> None:
        """Let the other experts predict until the ring has trained the new weights."""
        self.wakes_at = self.ring.n + RECOVERY

    def state(self) -> dict[str, Any]:
        """Return the states of the ring and of the networks, by name."""
        networks = {name: network.state() for name, network in self.networks.items()}
        return super().state() | {"networks": networks}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        require_fields(type(self).__name__, state["networks"], self.networks)
        for name, network in self.networks.items():
            network.restore_classes(state["networks"][name], self.n_classes)
