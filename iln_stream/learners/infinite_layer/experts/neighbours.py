"""Predictions from stored events that resemble a new one."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from iln_stream.kernels.columns import ABSENT, standardise_again
from iln_stream.kernels.nearest import (
    N_FOUND,
    NeighbourTables,
    predict_neighbours,
    remember_neighbour,
    set_metric,
)
from iln_stream.kernels.program import Call, Scalar, Step
from iln_stream.kernels.regression_event import scaled
from iln_stream.learners.infinite_layer.expert import Expert, Observation, Vector
from iln_stream.learners.infinite_layer.experts.resampled_ridges import ResampledRidges
from iln_stream.learners.infinite_layer.experts.rls_bank import FLOOR
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import aligned

METRIC_EVERY = 16
"""Number of events from one update of the metric to the next."""


class HasValue(Protocol):
    """An expert, such as a `ExpertMixture`, that has its last prediction."""

    value: float
    bound_value: Scalar


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
        self.n_nearest = np.zeros((), np.int64)
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

    def predicting(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Return the call that writes the three predictions to p."""
        memory = self.memory
        arguments = (
            event.row, event.z, self.mean.bound_value, event.at.center, event.at.unit,
            memory.columns, memory.y, event.at.n, self.metric, self._tables, self.nearest, p,
        )  # fmt: skip
        return [Call(predict_neighbours, arguments, (self.n_nearest,))]

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

    def learning(self, event: Observation, p: Vector) -> Iterable[Step]:
        """Yield the steps that remember the event."""
        mean = np.zeros(())

        def unscale() -> None:  # compiled, it would round once instead of twice
            mean[()] = event.center + event.unit * self.mean.value

        yield unscale
        at = event.at
        arguments = at.n, event.z, mean, at.y, at.evicted, at.t, self._tables
        yield Call(remember_neighbour, arguments)

    def learned(self, event: Observation) -> bool:
        """Update the metric now and then."""
        if self.memory.n % METRIC_EVERY == 0:
            self._update_metric()
        return False

    def _update_metric(self) -> None:
        """Weight a difference in a column, in deviations, by the root of its relevance."""
        ridges = self.ridges
        agop, n_lags = ridges.agop[self.k], ridges.bank.n_lags
        set_metric(agop, n_lags, FLOOR, self.inputs.stats, self.metric)

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
