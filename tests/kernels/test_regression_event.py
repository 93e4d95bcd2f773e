import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.columns import ABSENT, no_statistics
from iln_stream.kernels.regression_event import describe, observe
from iln_stream.learners.infinite_layer.memory import Memory

d, SIZE, N = 3, 60, 150
"""Columns, capacity of the ring buffer, events."""


def some_events(kind):
    """Rows of which one column lacks values, targets, and errors of predictions."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, d))
    x[:, 1] = np.where(rng.random(N) < 0.3, ABSENT, 1000.0 + x[:, 1])
    y = 5.0 + np.sin(2.0 * x[:, 0]) + 0.1 * rng.normal(size=N)
    if kind == "wild":
        x[[20, 90], 2] = 1e9, -1e9
        y[[40, 80, 81]] = 1e6, -1e150, 300.0
    elif kind == "constant":
        y[:] = -3.0
    return x, y, rng.standard_t(1.5, size=N)


@pytest.mark.parametrize("n_lags", [0, 1, 2, 3])
@pytest.mark.parametrize("kind", ["normal", "wild", "constant"])
def test_events_are_described_and_observed_as_recomputed(kind, n_lags):
    """Descriptions, scaled targets, the ring buffer and drift are functions of all events before.

    From the first event on, and after the ring buffer has overflowed.
    """
    stats, target = no_statistics(d), no_statistics(1)
    lags, drift, memory = np.zeros(n_lags), np.zeros(3), Memory(SIZE, n_lags)
    memory.widen(d)
    row, v = np.zeros(d), np.zeros(n_lags + d)
    events, misses, rows, before = plain.Events(d, n_lags), [], [], []
    for n, (x, y, error) in enumerate(zip(*some_events(kind), strict=True)):
        events.describe(x)
        center, unit = describe(x, stats, target, lags, n, row, v)
        assert (center, unit) == pytest.approx(events.scale)
        assert row.tolist() == events.row
        assert v == pytest.approx(events.v, abs=1e-6)
        prediction = y + error * unit
        misses.append(min(abs(y - prediction) / unit, 2.0))
        rows.append(events.row)
        before.append(events.last_targets(missing=events.ys[0] if n else y))
        t = observe(x, y, 1.0 + n, row, prediction, stats, target, lags, n, drift, memory.stored)
        assert t == pytest.approx(events.join(x, y))
        i = n % SIZE
        assert memory.columns[:, i].tolist() == rows[-1]
        assert (memory.lags[i].tolist(), memory.y[i]) == (before[-1], y)
    ring = np.arange(N - SIZE, N) % SIZE
    assert memory.columns[:, ring].T.tolist() == rows[-SIZE:]
    assert memory.lags[ring].tolist() == before[-SIZE:]
    assert memory.y[ring].tolist() == events.ys[-SIZE:]
    assert memory.weights[ring].tolist() == list(range(N - SIZE + 1, N + 1))
    assert lags.tolist() == events.last_targets(missing=None)
    means = [plain.running_mean(misses, horizon) for horizon in (50, 1000)]
    assert drift == pytest.approx([N, *means], rel=1e-6)


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_targets_before_the_first_are_described_by_zero(n):
    """The n last targets that exist are described in thirds of a unit, the others by 0."""
    stats, target, v = no_statistics(0), no_statistics(1), np.full(2, np.nan)
    target[:3, 0] = 4.0, 1.0, 4.0  # a center of 1 and a unit of 3
    scale = describe(np.empty(0), stats, target, np.array([2.0, 1e9]), n, np.empty(0), v)
    assert scale == (1.0, 3.0)
    assert v.tolist() == [1.0 if n > 0 else 0.0, 6.0 if n > 1 else 0.0]


def test_a_target_is_scaled_by_statistics_that_include_it():
    """Without the event's own target the second of two targets would have no scale but 1."""
    stats, target, lags, drift = no_statistics(0), no_statistics(1), np.zeros(0), np.zeros(3)
    memory, empty = Memory(SIZE, 0), np.empty(0)
    scaled = [
        observe(empty, y, 1.0, empty, 0.0, stats, target, lags, n, drift, memory.stored)
        for n, y in enumerate((10.0, 30.0))
    ]
    assert scaled == [0.0, pytest.approx(1.0 / 3.0)]
