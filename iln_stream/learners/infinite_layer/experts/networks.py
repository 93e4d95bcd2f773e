"""Networks whose units move, as experts: they are trained on each event and on past ones."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import ABSENT
from iln_stream.kernels.network_events import learn_networks, predict_networks, sensitivity
from iln_stream.kernels.networks import (
    LONG,
    SEGMENTS,
    SHORT,
    STEPS,
    WEIGHTS,
    Network,
    Shape,
    begin,
    n_fixed,
    n_of_column,
    n_scratch,
    padded,
    weights_of,
)
from iln_stream.kernels.program import Call, Step
from iln_stream.kernels.replay_ring import (
    BLOCKS,
    EVENTS,
    FILL,
    FURTHEST,
    LOWER,
    MISSING,
    N_LAGS,
    SLOPE,
    WIDTH,
    Ring,
    encode_next,
    put_event,
)
from iln_stream.kernels.vectors import WIDE_LANES
from iln_stream.learners.infinite_layer.expert import Expert, Observation, Vector
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part, aligned, require_fields
from iln_stream.learners.infinite_layer.target import Target
from iln_stream.state import ArrayBlock, all_finite

GRAIN, GROWTH = 8, 1.25
"""Columns are allocated in multiples of GRAIN, GROWTH times as many as before: growing copies all
events."""


RECENT = 512
"""Events that `without_replay` keeps: predictions need the last two targets, `relevance` the last
256 events."""


class ReplayRing(Part):
    """The last events, and how their columns are encoded for the networks that replay them.

    Columns are the last two targets, then the inputs. Events are kept raw, and encoded by current
    statistics whenever they are replayed. The last targets count only where successive targets
    are correlated.

    The oldest events leave a sixteenth of N at a time. So in a state, the events are in blocks that
    never change once they are full, and a folder of snapshots stores each block once.

    Parameters
    ----------
    size
        N, the most events kept.

    Attributes
    ----------
    is_whole : bool
        Whether it has the events to learn from; not after `without_replay` has left some out.

    """

    is_whole = True

    kept = ("encoding", "origins", "record")
    own = ("events",)

    def __init__(self, size: int) -> None:
        self.encoding = _no_columns(N_LAGS)
        self.origins = np.full(N_LAGS, ABSENT)
        self.record = np.zeros(3)
        self._rows = np.zeros((size, 0), np.float32)
        self._targets = np.zeros(size)
        self._delays = np.zeros(0, np.int32)  # of each event, once one is late
        self._weights = np.zeros(0)  # of each event, once one is not 1
        self._full: dict[int, dict[str, ArrayBlock]] = {}  # blocks of saved events, by their number
        self._make_views()

    def _make_views(self) -> None:
        L = self.n_columns
        self.ring = tuple(
            Ring(self._rows, self._targets, self.origins, self.record, self._delays, self._weights)
        )
        self.inputs = aligned(np.zeros((3, L, WIDE_LANES), np.float32))
        self.values = aligned(np.zeros((L, WIDE_LANES), np.float32))

    def __len__(self) -> int:
        """Number of events kept."""
        return self.n - self._first

    @property
    def _first(self) -> int:
        """The number of the oldest event kept, as `first_kept` has it, without compiling that."""
        length = self._block_length
        return -(-max(0, self.n - len(self._targets)) // length) * length

    @property
    def _block_length(self) -> int:
        """Events in a block."""
        return max(1, len(self._targets) // BLOCKS)

    @property
    def n(self) -> int:
        """Number of events ever stored."""
        return int(self.record[EVENTS])

    @property
    def n_columns(self) -> int:
        """L, the number of columns."""
        return len(self.encoding)

    def widen(self, n_columns: int) -> None:
        """Make room for new inputs, absent in earlier events."""
        self.encoding = np.concatenate([self.encoding, _no_columns(n_columns)])
        self.origins = np.pad(self.origins, (0, n_columns), constant_values=ABSENT)
        d = self.n_columns - N_LAGS
        if d > self._rows.shape[1]:
            d = max(d, int(GROWTH * self._rows.shape[1]))
            width = -(-d // GRAIN) * GRAIN
            rows = aligned(np.broadcast_to(MISSING, (len(self._rows), width)))
            rows[:, : self._rows.shape[1]] = self._rows
            self._rows = rows
        self._make_views()

    def look(self, row: NDArray[np.float64], delay: int = 0) -> None:
        """Encode the raw row (d,) of the event that comes next, as `inputs` (3, L, 16).

        Its last targets are those before the last `delay` ones.
        """
        encode_next(self.ring, self.encoding, row, delay, self.values, self.inputs)

    def put(
        self,
        row: NDArray[np.float64],
        y: float,
        stats: NDArray[np.float64],
        target: NDArray[np.float64],
        delay: int = 0,
        weight: float = 1.0,
    ) -> None:
        """Store an event that has joined the statistics of the inputs, (47, d), and the target.

        `delay` events were stored since it was predicted.
        """
        self.make_room(delay, weight)
        put_event(self.ring, self.encoding, row, y, delay, weight, stats, target)

    def make_room(self, delay: int, weight: float) -> bool:
        """Make room for the delays of all events, or their weights, if this is the first one.

        Returns whether arrays were replaced.
        """
        weighted = weight != 1.0 and not len(self._weights)
        late = delay != 0 and not len(self._delays)
        if weighted:
            self._weights = np.ones(len(self._targets))
        if late:
            self._delays = np.zeros(len(self._targets), np.int32)
        if weighted or late:
            self._make_views()
        return weighted or late

    def frozen(self) -> dict[str, Any]:
        """Return how inputs are encoded, with the last targets as they are now."""
        N, n = len(self._targets), self.n
        lags = np.full(N_LAGS, MISSING, np.float32)
        for lag in range(min(n, N_LAGS)):
            difference = self._targets[(n - 1 - lag) % N] - self.origins[lag]
            lags[lag] = np.clip(difference, -FURTHEST, FURTHEST)
        return {"encoding": self.encoding, "origins": self.origins[N_LAGS:], "lags": lags}

    def refill(
        self, memory: Memory, stats: NDArray[np.float64], target: NDArray[np.float64]
    ) -> None:
        """Reinitialise what is not finite.

        Broken values become missing, and broken targets the median of the others. The encoding of
        a broken column is made anew from the events in the memory; if origins or the record are
        broken, these are all the events that the ring then has.
        """
        self._rows[~np.isfinite(self._rows)] = MISSING
        known = np.isfinite(self._targets)
        self._weights[~np.isfinite(self._weights)] = 1.0
        self._targets[~known] = np.median(self._targets[known]) if known.any() else 0.0
        self._full = {}
        lost = not all_finite(self.origins) or not all_finite(self.record)
        broken = ~np.isfinite(self.encoding).all(axis=1)
        if not lost and not broken.any():
            return
        fresh = ReplayRing(len(self._targets))
        fresh.widen(self.n_columns - N_LAGS)
        if not lost:
            fresh.origins[N_LAGS:] = self.origins[N_LAGS:]
        for i in memory.slots():
            row, weight = np.ascontiguousarray(memory.columns[:, i]), float(memory.weights[i])
            fresh.put(row, memory.y[i], stats, target, weight=weight)
            if not lost:
                fresh.origins[:N_LAGS] = self.origins[:N_LAGS]
        if lost:
            self.encoding, self.origins, self.record = fresh.encoding, fresh.origins, fresh.record
            self._rows, self._targets = fresh._rows, fresh._targets
            self._delays, self._weights = fresh._delays, fresh._weights
            self._make_views()
        else:
            self.encoding[broken] = fresh.encoding[broken]

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the events' arrays, too."""
        yield from super().floats()
        if all_finite(self.record):
            yield "rows", self._rows[: self.n]
            yield "targets", self._targets[: self.n]
            yield "weights", self._weights[: self.n]

    def state(self) -> dict[str, Any]:
        """Return the encoding, and the events kept, by blocks: all but the last are full."""
        n, length = self.n, self._block_length
        numbers = range(self._first // length, -(-n // length))
        full = {k: self._full.get(k) or self._block(k) for k in numbers if (k + 1) * length <= n}
        self._full = full
        return super().state() | {"events": [full.get(k) or self._events(k) for k in numbers]}

    def _events(self, k: int) -> dict[str, NDArray[Any]]:
        """Return copies of the rows and targets that block k has so far."""
        N, length = len(self._targets), self._block_length
        at = np.arange(k * length, min((k + 1) * length, self.n)) % N
        rows = self._rows[at]
        # Columns that came later are left out, so that a block's bytes stay the same.
        known = (rows != MISSING).any(axis=0).nonzero()[0]
        width = int(known[-1]) + 1 if len(known) else 0
        events: dict[str, NDArray[Any]] = {"rows": rows[:, :width], "targets": self._targets[at]}
        if len(self._delays) and self._delays[at].any():
            events["delays"] = self._delays[at]
        if len(self._weights) and (self._weights[at] != 1.0).any():
            events["weights"] = self._weights[at]
        return events

    def _block(self, k: int) -> dict[str, ArrayBlock]:
        return {name: ArrayBlock(values) for name, values in self._events(k).items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        first = self.n - sum(len(events["targets"]) for events in state["events"])
        self.is_whole = first <= self._first
        if not self.is_whole:
            self._targets = np.zeros(RECENT)
        N, d = len(self._targets), self.n_columns - N_LAGS
        self._rows = aligned(np.broadcast_to(MISSING, (N, -(-d // GRAIN) * GRAIN)))
        self._full = {}
        late = any("delays" in events for events in state["events"])
        self._delays = np.zeros(N if late else 0, np.int32)
        weighted = any("weights" in events for events in state["events"])
        self._weights = np.ones(N if weighted else 0)
        for events in state["events"]:
            at = np.arange(first, first + len(events["targets"])) % N
            if "delays" in events:
                self._delays[at] = events["delays"]
            if "weights" in events:
                self._weights[at] = events["weights"]
            self._targets[at] = events["targets"]
            self._rows[at, : events["rows"].shape[1]] = events["rows"]
            first += len(at)
        self._make_views()


def without_replay(state: Any) -> Any:
    """Return a learner's state with no more events in its rings than predictions need.

    What is restored from it predicts as the learner does, to the bit. If events were left out, it
    refuses to learn.

    Examples
    --------
    >>> from iln_stream import InfiniteLayerRegressor
    >>> from iln_stream.learners import model_of, state_of
    >>> from iln_stream.learners.infinite_layer.experts.networks import without_replay
    >>> model = InfiniteLayerRegressor(seed=1)
    >>> for a in range(5):
    ...     model.learn_one({"a": a}, 2.0 * a)
    >>> copy = model_of(without_replay(state_of(model)))
    >>> copy.predict_one({"a": 2.5}) == model.predict_one({"a": 2.5})
    True

    """
    if isinstance(state, list):
        return [without_replay(each) for each in state]
    if not isinstance(state, dict):
        return state
    if state.keys() != {*ReplayRing.kept, *ReplayRing.own}:
        return {name: without_replay(value) for name, value in state.items()}
    recent: list[dict[str, Any]] = []
    left = RECENT
    for events in reversed(state["events"]):
        # Copies: a view would keep all of a block in memory.
        last = {name: np.array(values[-left:]) for name, values in events.items()}
        recent.insert(0, last)
        left -= len(last["targets"])
        if not left:
            break
    return {**state, "events": recent}


def _no_columns(n: int) -> NDArray[np.float32]:
    encoding = np.zeros((n, WIDTH), np.float32)
    encoding[:, FILL] = encoding[:, LOWER:SLOPE] = MISSING
    return encoding


PREDICTIONS = {"": WEIGHTS, "-short": SHORT, "-long": LONG}
"""How a network can predict, by the end of the prediction's name."""


class ReplayedNetwork(Part):
    """A network of two hidden layers and a linear skip, trained by one step of AdamW an event.

    A step's batch is the event and fifteen draws from a ring. The network predicts by its weights,
    or by their averages over a shorter and a longer past, or by several of these. Weights are drawn
    when the first columns come, or by `begin`; a column that comes later starts with weights 0.

    Parameters
    ----------
    shape
        Sizes and pace.
    ring
        The events, also those of other networks.
    key
        Seeds the weights and the draws: those of an event are a function of the key and its number.
    ends
        How it predicts: keys of `PREDICTIONS`.

    """

    kept = ("parameters", "record", "key")

    def __init__(
        self, shape: Shape, ring: ReplayRing, key: int, ends: tuple[str, ...] = tuple(PREDICTIONS)
    ) -> None:
        self.shape = shape
        self.ends = ends
        self._rows = np.array([PREDICTIONS[end] for end in ends])
        self._ring = ring
        self.key = np.array([key], np.uint64)
        S = n_fixed(shape) + ring.n_columns * n_of_column(shape)
        self.parameters = aligned(np.zeros((5, S), np.float32))
        self.record = np.zeros(1)
        self._make_scratch()

    def _make_scratch(self) -> None:
        S = self.parameters.shape[1]
        L = (S - n_fixed(self.shape)) // n_of_column(self.shape)
        self._network = Network(self.parameters, self.record, self.key)
        self._scratch = aligned(np.zeros(n_scratch(self.shape, L), np.float32))
        # numba recognises plain tuples faster than named ones.
        self._plain = tuple(self.shape), tuple(self._network)
        self.plain = *self._plain, self._rows, self._scratch

    @property
    def steps(self) -> int:
        """Steps taken since the weights were drawn."""
        return int(self.record[STEPS])

    def reinitialise(self, broken: Collection[str]) -> None:
        """Draw new weights."""
        self.begin()

    def begin(self) -> None:
        """Draw new weights and forget what was learned; the ring's events stay."""
        begin(self.shape, self._network, self._ring.n)

    def widen(self, n_columns: int) -> None:
        """Append columns of inputs; the ring gets them first."""
        more = n_columns * n_of_column(self.shape)
        self.parameters = aligned(np.pad(self.parameters, [(0, 0), (0, more)]))
        self._make_scratch()
        if self.record[STEPS] == 0.0:  # false for nan, which heals later
            self.begin()

    def frozen(self) -> list[dict[str, Any]]:
        """Return the weights of each of its predictions."""
        shape, found = self.shape, []
        n_first, n_outputs, room = shape.first, shape.outputs, padded(shape)
        for row in self._rows.tolist():
            w = weights_of(self.parameters[row], shape)
            increments = w.columns[:, n_first + room :]
            found.append(
                {
                    "W1": w.columns[:, :n_first],
                    "b1": w.b1[0],
                    "W2": w.W2,
                    "b2": w.b2[0],
                    "w3": w.w3,
                    "b3": w.b3[0, :n_outputs],
                    "skip": w.columns[:, n_first : n_first + n_outputs],
                    "increments": increments.reshape(len(increments), SEGMENTS, shape.piecewise),
                }
            )
        return found

    def sensitivity(self) -> NDArray[np.float64]:
        """Return the mean squared slope along each input's deviations, (d,), over recent events."""
        ring = self._ring
        squares = np.zeros(ring.n_columns)
        sensitivity(*self._plain, ring.ring, ring.encoding, self._scratch, squares)
        return squares[N_LAGS:]

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._make_scratch()


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
        self._gather()

    def _gather(self) -> None:
        self._plain = tuple(network.plain for network in self.networks.values())

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, with weights 0 unless they are the first."""
        self.ring.widen(n_columns)
        for network in self.networks.values():
            network.widen(n_columns)
        self._gather()

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the call that writes each network's predictions to p."""
        ring = self.ring
        arguments = (
            self._plain, ring.ring, ring.encoding, event.row, event.at.delay, ring.values,
            ring.inputs, p,
        )  # fmt: skip
        return [Call(predict_networks, arguments)]

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        networks = [form for network in self.networks.values() for form in network.frozen()]
        return [{"form": "networks", "networks": networks, "encoded": self.ring.frozen()}]

    def admit(self, event: Observation) -> bool:
        """Make room for the first label that is late, and for the first weight that is not 1."""
        return self.ring.make_room(event.delay, event.weight)

    def learning(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the call that stores the event and takes a step."""
        ring = self.ring
        arguments = (
            self._plain, ring.ring, ring.encoding, event.row, event.at.y, event.at.delay,
            event.at.weight, self.inputs.stats, self.target.stats,
        )  # fmt: skip
        return [Call(learn_networks, arguments)]

    def learned(self, event: Observation) -> bool:
        """Begin if no input came with the first event; wake up in time."""
        n, slept = self.ring.n, self.asleep
        for network in self.networks.values() if n == 1 else ():
            if not network.parameters.any():
                network.begin()
        self.asleep = n < self.wakes_at
        return self.asleep is not slept

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
        super().restore(state)
        require_fields(type(self).__name__, state["networks"], self.networks)
        for name, network in self.networks.items():
            network.restore(state["networks"][name])
        self._gather()
        self.asleep = self.ring.n < self.wakes_at
