"""Predictions from stored events that resemble a new one."""

from collections.abc import Collection, Mapping
from typing import Any, Protocol

import numpy as np

from iln_stream.kernels.columns import ABSENT, standardise_again
from iln_stream.kernels.nearest import (
    N_FOUND,
    NeighbourTables,
    predict_neighbours,
    remember_neighbour,
)
from iln_stream.kernels.regression_event import scaled
from iln_stream.learners.infinite_layer.expert import Expert, Observation, Vector
from iln_stream.learners.infinite_layer.experts.resampled_ridges import ResampledRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import blended
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import aligned

METRIC_EVERY = 16
"""Number of events from one update of the metric to the next."""


class HasValue(Protocol):
    """An expert, such as a `ExpertMixture`, that has its last prediction."""

    value: float


class Neighbours(Expert):
    """Targets of the stored events that resemble the new one, in three senses.

    `median`, the median target of events with about the same predicted mean; `neighbours`, that of
    the events nearest in the relevant inputs; and `nearest-as-of`, the target of the event whose
    inputs had the most similar deviations, by the statistics as of that event. In the last case the
    target, too, is scaled as of its event: in a population that grows as a whole, past events that
    were large for their time indicate the target of one that is large now. `mean` predicts the
    mean; the gradients of the k-th of the `ridges` tell which inputs are relevant.
    """

    names = ("median", "neighbours", "nearest-as-of")
    kept = ("means", "ordered", "carried", "deviations", "scaled", "metric")
    fixed = ("means", "ordered", "carried", "scaled")

    def __init__(
        self, mean: HasValue, ridges: ResampledRidges, k: int, inputs: Inputs, memory: Memory
    ) -> None:
        size = len(memory.y)
        self.mean = mean
        self.ridges = ridges
        self.k = k
        self.inputs = inputs
        self.memory = memory
        self.means = np.zeros(size)
        self.ordered = np.zeros(size)
        self.carried = np.zeros(size)
        self.deviations = np.zeros((0, size), np.float32)
        self.scaled = np.zeros(size)
        self.metric = np.zeros(0)  # the weight of a difference in each column
        self.nearest = np.zeros(N_FOUND, np.int64)  # to the event last predicted
        self.n_nearest = 0
        self._make_tables()

    def _make_tables(self) -> None:
        self._tables = tuple(
            NeighbourTables(self.means, self.ordered, self.carried, self.deviations, self.scaled)
        )

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, with deviation 0 in earlier events."""
        self.deviations = aligned(np.pad(self.deviations, [(0, n_columns), (0, 0)]))
        self.metric = np.pad(self.metric, (0, n_columns))
        self._make_tables()

    def predict(self, event: Observation, p: Vector) -> None:
        """Write the three predictions to p."""
        memory = self.memory
        self.n_nearest = predict_neighbours(
            event.row, event.z, self.mean.value, event.center, event.unit, memory.columns,
            memory.y, min(memory.n, len(memory.y)), self.metric, self._tables, self.nearest, p,
        )  # fmt: skip

    def frozen(self, event: Observation) -> list[dict[str, Any]]:
        memory, n = self.memory, self.memory.filled
        return [
            {
                "form": "neighbours",
                "columns": np.minimum(memory.columns[:, :n], ABSENT),
                "targets": memory.y[:n],
                "metric": self.metric,
                "ordered": self.ordered[:n],
                "carried": self.carried[:n],
                "deviations": self.deviations[:, :n],
                "scaled": self.scaled[:n],
            }
        ]

    def learn(self, event: Observation, t: float, p: Vector) -> None:
        """Remember the event, whose target is already in the memory."""
        memory = self.memory
        i, size = memory.n - 1, len(memory.y)
        remember_neighbour(
            i % size, min(i, size), event.z, event.center + event.unit * self.mean.value,
            memory.y[i % size], memory.evicted, t, self._tables,
        )  # fmt: skip
        if memory.n % METRIC_EVERY == 0:
            self._update_metric()

    def _update_metric(self) -> None:
        """Weight a difference in a column, in deviations, by the root of its relevance."""
        n_lags = self.ridges.bank.n_lags
        relevance = np.diag(blended(self.ridges.agop[self.k][n_lags:, n_lags:]))
        sd = self.inputs.sd
        self.metric = np.where(sd > 0.0, np.sqrt(relevance) / np.where(sd > 0.0, sd, 1.0), 0.0)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Compute what is broken anew from the memory, by the statistics of today.

        The targets stand in for broken means.
        """
        memory, target, stored = self.memory, self.ridges.resampler.target, self.memory.filled
        self.means[:] = np.where(np.isfinite(self.means), self.means, memory.y)
        order = np.argsort(self.means[:stored], kind="stable")
        self.ordered[:], self.carried[:] = 0.0, 0.0
        self.ordered[:stored], self.carried[:stored] = self.means[order], memory.y[order]
        known = np.isfinite(self.scaled) & np.isfinite(self.deviations).all(axis=0)
        z = np.zeros(len(self.deviations))
        for i in np.flatnonzero(~known).tolist():
            standardise_again(np.ascontiguousarray(memory.columns[:, i]), self.inputs.stats, z)
            self.deviations[:, i] = z
            self.scaled[i] = scaled(memory.y[i], target.center, target.unit)
        self._update_metric()

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._make_tables()
