"""Synthetic streams."""

import numpy as np
import pytest

from iln_stream.research.experiments.data import NOISE, TARGETS, stream


@pytest.mark.parametrize("name", TARGETS)
def test_streams(name):
    """Inputs and signal have variance 1, and a seed gives the same stream."""
    X, y = stream(name, 2000, 5)
    assert np.var(X) == pytest.approx(1.0, abs=0.05)
    assert np.var(y) == pytest.approx(1.0 + NOISE**2, abs=0.02)
    assert np.array_equal(y, stream(name, 2000, 5)[1])
