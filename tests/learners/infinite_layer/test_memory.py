import numpy as np
import pytest

from iln_stream.kernels.standardise import ABSENT
from iln_stream.learners.infinite_layer.memory import Memory


def filled(n, size=50, d=3, seed=0):
    """A memory that n events have gone through, and these events."""
    rng = np.random.default_rng(seed)
    memory = Memory(size, n_lags=0, n_experts=1)
    memory.widen(d)
    rows, y = rng.normal(size=(n, d)), rng.normal(size=n)
    for row, target in zip(rows, y.tolist(), strict=True):
        memory.put(row, np.zeros(0), target, 2.0 * target, np.zeros(1))
    return memory, rows[-size:], y[-size:]


@pytest.mark.parametrize("n", [3, 50, 137])
def test_nearest_are_those_of_a_sort(n):
    """The median of the 5 nearest of the events still kept is what sorting all distances gives."""
    memory, rows, y = filled(n)
    scale = np.array([1.0, 2.0, 0.0])
    row = np.array([0.3, -0.2, 9.0])
    order = np.argsort((((rows - row) * scale) ** 2).sum(axis=1))[:5]
    assert memory.median_near(row, scale, 5) == np.median(y[order])


def test_median_where_predicted():
    """The median target where about the same mean was predicted."""
    memory, _, y = filled(60)
    order = np.argsort(np.abs(2.0 * y - 0.5))[:7]
    assert memory.median_where_predicted(0.5, 7) == np.median(y[order])


def test_new_columns_are_absent_in_the_past():
    """An event from before a column came is far in it from any value, and no further than that."""
    memory, _, _ = filled(10)
    memory.widen(1)
    assert (memory.columns[3] == ABSENT).all()
    memory.put(np.zeros(4), np.zeros(0), 42.0, 0.0, np.zeros(1))
    assert memory.median_near(np.zeros(4), np.ones(4), 1) == 42.0
