"""Gaussian naive Bayes, which needs few events of a class."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.gaussian_naive_bayes import LEAST_VARIANCE, PRIOR, learn, predict
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.inputs import Inputs
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part


class GaussianNaiveBayes(Part):
    """Predicts by Bayes' rule from each input's mean and variance in each class.

    It is sure of too much where inputs depend on each other, but ranks events early: the means of a
    rare class need fewer events than a boundary around it.
    """

    names = ("naive-bayes",)
    kept = ("counts", "mean", "squares")

    def __init__(self, inputs: Inputs, memory: Memory) -> None:
        self.inputs = inputs
        self.memory = memory
        self.counts = np.zeros(0)
        self.mean = np.zeros((0, 0))
        self.squares = np.zeros((0, 0))

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, 0 in earlier events."""
        self.mean = np.pad(self.mean, [(0, 0), (0, n_columns)])
        self.squares = np.pad(self.squares, [(0, 0), (0, n_columns)])

    def add_class(self) -> None:
        """Make room for one more class."""
        self.counts = np.pad(self.counts, (0, 1))
        self.mean = np.pad(self.mean, [(0, 1), (0, 0)])
        self.squares = np.pad(self.squares, [(0, 1), (0, 0)])

    def predict(
        self, event: Observation, offsets: NDArray[np.float64], p: NDArray[np.float64]
    ) -> None:
        """Write the probabilities to p (C,), from the classes' log frequencies (C,)."""
        predict(event.v, self.counts, self.mean, self.squares, offsets, p)

    def frozen(self) -> dict[str, Any]:
        """Return means and variances (C, d), of which NumPy alone makes the predictions."""
        seen = self.counts[:, None] + PRIOR
        return {
            "mean": self.mean * self.counts[:, None] / seen,
            "variance": (self.squares + PRIOR) / seen + LEAST_VARIANCE,
        }

    def learn(self, event: Observation, label: int) -> None:
        """Learn the class of an event."""
        learn(event.v, self.counts, self.mean, self.squares, label, event.weight)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Compute the statistics of the broken classes anew from the memory's events."""
        table = np.column_stack([self.counts, self.mean, self.squares])
        classes: NDArray[np.bool_] = np.logical_not(np.isfinite(table).all(axis=1))
        if not classes.any():  # it is restarted
            classes[:] = True
        for array in (self.counts, self.mean, self.squares):
            array[classes] = 0.0
        memory, event = self.memory, Observation(0, len(self.inputs))
        for n, i in memory.numbered():
            label = int(memory.y[i])
            if classes[label] and n > memory.since:  # earlier labels were lost
                row = np.ascontiguousarray(memory.columns[:, i])
                self.inputs.standardise(row, event.row, event.v)
                event.weight = float(memory.weights[i])
                self.learn(event, label)
