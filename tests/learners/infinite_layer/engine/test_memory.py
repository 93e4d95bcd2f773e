import copy
import pickle

import numpy as np
import pytest

from iln_stream.kernels.columns import ABSENT, no_statistics
from iln_stream.kernels.regression_event import describe, observe
from iln_stream.learners.infinite_layer.memory import Memory

SIZE, N_LAGS, d = 5, 2, 3


def filled(n):
    """A memory that was given n events, and these: rows and targets."""
    rng = np.random.default_rng(1)
    memory, rows, ys = Memory(SIZE, 0), rng.normal(size=(n, d)), rng.normal(size=n)
    memory.widen(d)
    for row, y in zip(rows, ys, strict=True):
        memory.put(row, y)
    return memory, rows, ys


@pytest.mark.parametrize("n", [0, 1, 4, 5, 13])
def test_the_last_events_are_kept(n):
    """Event i is in slot i modulo the size, until an event that is `size` later replaces it."""
    memory, rows, ys = filled(n)
    last = np.arange(max(0, n - SIZE), n)
    assert (memory.n, memory.filled) == (n, len(last))
    kept = memory.columns[:, last % SIZE].T
    assert (kept == rows[last]).all()
    assert (memory.y[last % SIZE] == ys[last]).all()


def test_new_columns_are_absent_in_earlier_events():
    """A widened memory keeps its events, and their values in the new columns are unknown."""
    memory, rows, _ = filled(SIZE)
    memory.widen(2)
    kept = memory.columns[:d].T
    assert (kept == rows).all()
    assert (memory.columns[d:] == ABSENT).all()


def test_the_target_that_the_last_event_replaced():
    """That of the event `size` before it; 0 while the memory fills."""
    memory, _, ys = filled(SIZE - 1)
    memory.put(np.ones(d), 1.0)
    assert memory.evicted == 0.0
    memory.put(np.ones(d), 2.0)
    assert memory.evicted == ys[0]


def restored(memory):
    twin = Memory(SIZE, N_LAGS)
    twin.restore(memory.state())
    return twin


@pytest.mark.parametrize(
    "made", [lambda m: m, restored, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_compiled_code_writes_to_the_same_arrays(made):
    """What a compiled loop stores is in the memory: after widening, restoring and copying, too."""
    memory = Memory(SIZE, N_LAGS)
    memory.widen(d)
    memory = made(memory)
    x, row, v = np.arange(1.0, d + 1.0), np.zeros(d), np.zeros(N_LAGS + d)
    stats, target, lags = no_statistics(d), no_statistics(1), np.array([7.0, 8.0])
    describe(x, stats, target, lags, 1, row, v)
    observe(x, 4.0, 2.5, row, 0.0, stats, target, lags, 1, np.zeros(3), memory.stored)
    assert memory.columns[:, 1].tolist() == x.tolist()
    assert memory.lags[1].tolist() == [7.0, 8.0]
    assert memory.y[1] == 4.0
    assert memory.weights[:3].tolist() == [1.0, 2.5, 1.0]


def test_restored_goes_on_alone():
    """A restored memory has the events, and storing more leaves the original as it was."""
    memory, _, _ = filled(7)
    before = memory.state()
    twin = Memory(SIZE, 0)
    twin.restore(before)
    twin.put(np.ones(d), 1.0)
    assert (twin.n, memory.n) == (8, 7)
    assert (memory.columns == before["columns"]).all()
    assert (memory.y == before["y"]).all()
