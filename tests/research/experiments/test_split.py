"""Training and test data."""

import numpy as np

from iln_stream.research.experiments.data import Split


def test_first():
    """The first examples keep their targets and the source."""
    split = Split(np.arange(6.0).reshape(3, 2), np.arange(3.0), np.ones((4, 2)), np.ones(4), "here")
    part = split.first(2, 1)
    assert part.X.tolist() == [[0, 1], [2, 3]]
    assert part.y.tolist() == [0, 1]
    assert (part.Z.shape, part.labels.shape, part.source) == ((1, 2), (1,), "here")
