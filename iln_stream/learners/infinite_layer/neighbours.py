"""Which of the last events are similar to a new one."""

import numpy as np
from numpy.typing import NDArray

from iln_stream.learners.infinite_layer.part import Part


class Neighbours(Part):
    """Data kept about the memory's events, besides the memory, to find those similar to a new one.

    Similar in three senses: about the same predicted mean; about the same relevant inputs; and
    about the same deviations of the inputs, by the statistics as of each event. In the last case
    the target, too, is scaled as of its event: in a population that grows as a whole, past events
    that were large for their time indicate the target of one that is large now.

    Parameters
    ----------
    size
        N, the most events kept.

    """

    kept = ("means", "ordered", "carried", "standing", "standing_t", "metric")

    def __init__(self, size: int) -> None:
        self.means = np.zeros(size)  # predicted, by slot in the ring buffer
        self.ordered = np.zeros(size)  # the same in ascending order
        self.carried = np.zeros(size)  # the targets in that order
        self.standing = np.zeros((0, size), np.float32)  # inputs in deviations, as of the event
        self.standing_t = np.zeros(size)  # scaled targets, as of the event
        self.metric = np.zeros(0)  # the weight of a difference in each column

    def widen(self, n_columns: int) -> None:
        """Make room for new columns, with deviation 0 in earlier events."""
        self.standing = np.pad(self.standing, [(0, n_columns), (0, 0)])
        self.metric = np.pad(self.metric, (0, n_columns))

    def weigh(self, relevance: NDArray[np.float64], sd: NDArray[np.float64]) -> None:
        """Weight a difference in each column (d,), in deviations, by the column's relevance."""
        self.metric = np.where(sd > 0.0, np.sqrt(relevance) / np.where(sd > 0.0, sd, 1.0), 0.0)
