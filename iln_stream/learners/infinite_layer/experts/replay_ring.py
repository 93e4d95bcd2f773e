"""The past events that networks are trained on."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.compiled import replay_ring as kernels
from iln_stream.compiled.replay_ring import EVENTS, FILL, LOWER, MISSING, N_LAGS, SLOPE
from iln_stream.compiled.standardise import ABSENT
from iln_stream.compiled.wide_lanes import LANES
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.state import Block, all_finite

GRAIN, GROWTH = 8, 1.25
"""Columns are allocated in multiples of GRAIN, GROWTH times as many as before: growing copies all
events."""


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

    """

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
        self._full: dict[int, dict[str, Block]] = {}  # blocks of saved events, by their number
        self._make_views()

    def _make_views(self) -> None:
        L = self.n_columns
        self.ring = tuple(
            kernels.Ring(
                self._rows, self._targets, self.origins, self.record, self._delays, self._weights
            )
        )
        self.inputs = np.zeros((3, L, LANES), np.float32)
        self._values = np.zeros((L, LANES), np.float32)

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
        return max(1, len(self._targets) // kernels.BLOCKS)

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
            rows = np.zeros((len(self._rows), -(-d // GRAIN) * GRAIN), np.float32)
            rows[:, : self._rows.shape[1]] = self._rows
            rows[:, self._rows.shape[1] :] = MISSING
            self._rows = rows
        self._make_views()

    def look(self, row: NDArray[np.float64], delay: int = 0) -> None:
        """Encode the raw row (d,) of the event that comes next, as `inputs` (3, L, 16).

        Its last targets are those before the last `delay` ones.
        """
        kernels.encode_next(self.ring, self.encoding, row, delay, self._values, self.inputs)

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
        if weight != 1.0 and not len(self._weights):
            self._weights = np.ones(len(self._targets))
            self._make_views()
        if delay and not len(self._delays):
            self._delays = np.zeros(len(self._targets), np.int32)
            self._make_views()
        kernels.put_event(self.ring, self.encoding, row, y, delay, weight, stats, target)

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

    def _block(self, k: int) -> dict[str, Block]:
        return {name: Block(values) for name, values in self._events(k).items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from a state that `state` returned."""
        super().restore(state)
        N, d = len(self._targets), self.n_columns - N_LAGS
        self._rows = np.full((N, -(-d // GRAIN) * GRAIN), MISSING, np.float32)
        self._full = {}
        first = self._first
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


def _no_columns(n: int) -> NDArray[np.float32]:
    encoding = np.zeros((n, kernels.WIDTH), np.float32)
    encoding[:, FILL] = encoding[:, LOWER:SLOPE] = MISSING
    return encoding
