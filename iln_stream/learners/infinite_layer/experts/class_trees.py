"""Trees that grow with the stream, for inputs on whose thresholds the class depends."""

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.class_trees import PRIOR, learn_trees, predict_trees
from iln_stream.learners.infinite_layer.expert import Vector
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part

N_TREES = 10
N_NODES = 511
N_WAITING = 20
"""Events in a leaf when a split is looked for."""

N_ROWS = 2_048
"""Last events that splits are found by."""

MOST_CLASSES = 64
"""The first so many classes are counted."""


class ClassTrees(Part):
    """Ten trees; a leaf is split, by the best of 32 random splits, when 20 events wait in it.

    Draws are a function of `key` and of the number of the event.
    """

    kept = (
        "feature", "threshold", "left", "counts", "waiting", "n_waiting", "n_nodes", "rows",
        "labels", "key",
    )  # fmt: skip
    fixed = ("feature", "threshold", "left", "waiting", "n_waiting", "n_nodes", "labels")

    def __init__(self, memory: Memory, key: np.uint64) -> None:
        self.memory = memory
        self.key = np.array([key], np.uint64)
        nodes = (N_TREES, N_NODES)
        self.feature = np.zeros(nodes, np.int64)
        self.threshold: Vector = np.zeros(nodes)
        self.left = np.zeros(nodes, np.int64)
        self.counts: NDArray[np.float32] = np.zeros((*nodes, 0), np.float32)
        self.waiting = np.zeros((*nodes, N_WAITING), np.int64)
        self.n_waiting = np.zeros(nodes, np.int64)
        self.n_nodes = np.ones(N_TREES, np.int64)
        self.rows: NDArray[np.float32] = np.zeros((N_ROWS, 0), np.float32)
        self.labels = np.zeros(N_ROWS, np.int64)

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, 0 in earlier events."""
        self.rows = np.pad(self.rows, [(0, 0), (0, n_columns)])

    def add_class(self) -> None:
        """Make room for one more class."""
        if self.counts.shape[2] < MOST_CLASSES:
            self.counts = np.pad(self.counts, [(0, 0), (0, 0), (0, 1)])

    def predict(self, v: Vector, p: Vector) -> None:
        """Write the probabilities for the inputs v (W,) to p (C,)."""
        predict_trees(v, self.feature, self.threshold, self.left, self.counts, p)

    def learn(self, v: Vector, label: int, weight: float) -> None:
        """Learn the class of an event, if it is counted; the memory has the event."""
        if weight > 0.0 and label < self.counts.shape[2] and len(v):
            learn_trees(
                v, label, weight, self.memory.n, self.key[0], self.feature, self.threshold,
                self.left, self.counts, self.waiting, self.n_waiting, self.n_nodes, self.rows,
                self.labels,
            )  # fmt: skip

    def frozen(self, n_classes: int) -> dict[str, Any]:
        """Return the trees, and the probabilities of each node, (T, N, C)."""
        N = int(self.n_nodes.max())
        feature, threshold, left = (a[:, :N] for a in (self.feature, self.threshold, self.left))
        counts = np.zeros((N_TREES, N, n_classes))
        counts[..., : self.counts.shape[2]] = self.counts[:, :N]
        parent = np.full((N_TREES, N), -1)
        for t, v in zip(*np.nonzero(left), strict=True):
            parent[t, left[t, v] : left[t, v] + 2] = v
        p = np.full((N_TREES, N, n_classes), 1.0 / n_classes)
        trees = np.arange(N_TREES)
        for v in range(N):  # a node's number is above its parent's
            prior = p[trees, parent[:, v]] if v else p[:, 0]
            seen = counts[:, v]
            p[:, v] = (seen + PRIOR * prior) / (seen.sum(axis=1, keepdims=True) + PRIOR)
        return {"feature": feature, "threshold": threshold, "left": left, "p": p}

    def reinitialise(self, broken: Collection[str]) -> None:
        """Begin anew."""
        self.n_nodes[:] = 1
        for array in (self.threshold, self.left, self.counts, self.n_waiting, self.rows):
            array[:] = 0
