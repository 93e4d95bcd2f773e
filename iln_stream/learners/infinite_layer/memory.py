"""The last events."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import ABSENT
from iln_stream.kernels.regression_event import StoredEvents
from iln_stream.learners.infinite_layer.expert import Vector
from iln_stream.learners.infinite_layer.part import Part, aligned


class Memory(Part):
    """A ring buffer of events: raw rows, targets, earlier targets, and weights.

    A state has the weights only if one of them is not 1. It keeps N = `size` events, each with
    `n_lags` earlier targets.
    """

    kept = ("columns", "lags", "y", "n", "since")
    fixed = ("lags", "y")

    def __init__(self, size: int, n_lags: int) -> None:
        self.columns = np.zeros((0, size))
        self.lags = np.zeros((size, n_lags))
        self.y = np.zeros(size)
        self.weights = np.ones(size)
        self.n = 0  # number of events ever stored
        self.since = 0  # the first event after those whose targets had to be reinitialised
        self._make_tables()

    @property
    def filled(self) -> int:
        """Number of events kept."""
        return min(self.n, len(self.y))

    def slots(self) -> Iterable[int]:
        """Return the slots of the events kept, the oldest first."""
        return (i % len(self.y) for i in range(self.n - self.filled, self.n))

    def numbered(self) -> Iterable[tuple[int, int]]:
        """Return number, from 1, and slot of the events kept, the oldest first."""
        return enumerate(self.slots(), self.n - self.filled + 1)

    def _make_tables(self) -> None:
        # For compiled code; see `StoredEvents`.
        self.stored = tuple(StoredEvents(self.columns, self.lags, self.y, self.weights))

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, absent in earlier events."""
        wider = np.pad(self.columns, [(0, n_columns), (0, 0)], constant_values=ABSENT)
        self.columns = aligned(wider)
        self._make_tables()

    def put(self, row: Vector, y: float, weight: float = 1.0) -> None:
        """Store an event without earlier targets, replacing the oldest if full."""
        i = self.n % len(self.y)
        self.n += 1
        self.columns[:, i] = row
        self.y[i] = y
        self.weights[i] = weight

    def reinitialise(self, broken: Collection[str]) -> None:
        """Make broken inputs absent, broken targets the median of the others, and lags theirs.

        Broken weights become 1.
        """
        self.columns[~np.isfinite(self.columns)] = ABSENT
        self.weights[~np.isfinite(self.weights)] = 1.0
        known = np.isfinite(self.y)
        if not known.all():
            self.since = self.n
        kept = known.copy()
        kept[self.filled :] = False
        self.y[~known] = np.median(self.y[kept]) if kept.any() else 0.0
        for lag in range(self.lags.shape[1]):
            column = self.lags[:, lag]
            column[:] = np.where(np.isfinite(column), column, np.roll(self.y, 1 + lag))

    def floats(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the weights, too."""
        yield from super().floats()
        yield "weights", self.weights

    def state(self) -> dict[str, Any]:
        """Return the events, with their weights if one is not 1."""
        weighted = bool((self.weights != 1.0).any())
        return super().state() | ({"weights": self.weights.copy()} if weighted else {})

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore({name: value for name, value in state.items() if name != "weights"})
        self.weights = np.ones(len(self.y))
        self.weights[:] = state.get("weights", 1.0)
        self._make_tables()
