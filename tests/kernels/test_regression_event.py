import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.columns import ABSENT, no_statistics
from iln_stream.kernels.regression_event import (
    center_and_unit,
    describe,
    join_drift,
    join_target,
    observe,
)
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


@pytest.mark.parametrize(
    ("kind", "n_lags"), [("normal", 0), ("normal", 1), ("wild", 3), ("constant", 2)]
)
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


@pytest.mark.parametrize(
    "ys",
    [
        np.random.default_rng(1).standard_t(1.1, size=100) ** 3,
        np.array([3.0]),
        np.array([1e150, -1e150]),
        np.array([0.0, 1e-200]),
    ],
    ids=["wild", "one", "huge", "tiny"],
)
def test_scale_is_that_of_all_targets(ys):
    """Center and unit are the mean and three deviations of the winsorised targets; or 1."""
    stats = no_statistics(1)
    for n, y in enumerate(ys.tolist(), 1):
        join_target(y, stats, 0)
        assert center_and_unit(stats) == pytest.approx(plain.scale(ys[:n]), rel=1e-9, abs=1e-15)
        assert stats[[0, 3, 4], 0].tolist() == [n, ys[:n].min(), ys[:n].max()]


@pytest.mark.parametrize(
    ("mean", "squares", "unit"),
    [
        (2.0**30, 1.1e-6, 1.0),  # is rounding
        (2.0**30, 1.2e-6, 3.0 * 1.2e-8**0.5),  # is more
        (0.0, 5e-324, 1.0),  # the quotient underflows
    ],
)
def test_unit_where_targets_hardly_differ(mean, squares, unit):
    """A sum of squares that may be rounding gives a unit of 1, and no unit is 0."""
    stats = no_statistics(1)
    stats[:3, 0] = 100.0, mean, squares
    assert center_and_unit(stats) == (mean, pytest.approx(unit))


def test_drift_is_the_means_of_the_latest_errors():
    """Over about 50 and 1,000 errors; the first have plain means, and a larger one counts as 2."""
    errors, record = [], np.zeros(3)
    for error in [0.0, 1e150, *np.random.default_rng(1).exponential(size=3_000).tolist()]:
        join_drift(record, error)
        errors.append(min(error, 2.0))
    means = [plain.running_mean(errors, horizon) for horizon in (50, 1000)]
    assert record == pytest.approx([len(errors), *means], rel=1e-10)
