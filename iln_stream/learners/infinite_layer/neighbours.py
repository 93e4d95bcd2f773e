"""Which of the last events a new one is like."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.part import Part


class Neighbours(Part):
    """What is kept of the memory's events, beside itself, to find those that a new one is like.

    In three senses: about the same mean was predicted; the inputs that matter are about the same;
    and where the inputs stood among all that had come by then is about the same. The last one's
    target, too, is taken as it stood then: in a population that grows as a whole, who was large
    for his day is known by who was large before.

    Parameters
    ----------
    size
        N, the most events kept.

    """

    kept = ("means", "ordered", "carried", "standing", "standing_t", "metric")

    def __init__(self, size: int) -> None:
        self.means = np.zeros(size)  # predicted, by place in the ring
        self.ordered = np.zeros(size)  # the same in ascending order
        self.carried = np.zeros(size)  # the targets in that order
        self.standing = np.zeros((0, size), np.float32)  # inputs in deviations, as they were then
        self.standing_t = np.zeros(size)  # targets as they were scaled then
        self.metric = np.zeros(0)  # the weight of a difference in each column

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, ordinary in the events before."""
        self.standing = np.pad(self.standing, [(0, n_columns), (0, 0)])
        self.metric = np.pad(self.metric, (0, n_columns))

    def weigh(self, relevance: NDArray[np.float64], sd: NDArray[np.float64]) -> None:
        """Let a difference in each column (d,) count by its relevance, in deviations."""
        self.metric = np.where(sd > 0.0, np.sqrt(relevance) / np.where(sd > 0.0, sd, 1.0), 0.0)
