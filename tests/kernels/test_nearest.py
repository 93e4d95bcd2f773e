"""The nearest stored events, and what they predict, against sorting all."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels import plain

from iln_stream.kernels.columns import ABSENT
from iln_stream.kernels.nearest import (
    MEDIAN,
    N_FOUND,
    N_NEAR,
    N_SIMILAR,
    NEAREST_AS_OF,
    NEIGHBOURS,
    NeighbourTables,
    median_where,
    most_alike,
    nearest,
    predict_neighbours,
    put_in_order,
    remember_neighbour,
)


@pytest.mark.parametrize("n", [3, 700])
def test_nearest_are_those_of_a_sort(n):
    """The five nearest in scaled columns are those from sorting all distances."""
    rng = np.random.default_rng(n)
    columns, row, scale = rng.normal(size=(3, 1_000)), np.array([0.3, -0.2, 9.0]), [1.0, 2.0, 0.0]
    distances, which = np.empty(5), np.full(5, -1)
    nearest(columns, n, row, np.array(scale), distances, which)
    squares = (((columns[:, :n].T - row) * scale) ** 2).sum(axis=1)
    assert which[:n].tolist() == np.argsort(squares)[:5].tolist()[:n]


@pytest.mark.parametrize("n", [1, 600])
def test_most_alike_is_the_least_distance(n):
    """In single precision, too, the event found is at least as near as any other."""
    rng = np.random.default_rng(n)
    columns, row = rng.normal(size=(4, 600)).astype(np.float32), rng.normal(size=4)
    squares = ((columns[:, :n].T - row) ** 2).sum(axis=1)
    assert squares[most_alike(columns, n, row)] == pytest.approx(squares.min(), rel=1e-5)


@settings(deadline=None, max_examples=50)  # the first call compiles
@given(
    st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=31, max_size=200),
    st.integers(-6, 6),
)
def test_ring_in_order(events, key):
    """After any events the window is the last ones by key; the median is of the nearest keys."""
    size = 30
    ring = np.zeros((size, 2))
    keys, carried = np.zeros(size), np.zeros(size)
    for i, (k, y) in enumerate(events):
        old = ring[i % size].copy()
        put_in_order(keys, carried, min(i, size), k, y, *old)
        ring[i % size] = k, y
    last = sorted(map(tuple, ring.tolist()))
    assert sorted(zip(keys.tolist(), carried.tolist(), strict=True)) == last
    assert (np.diff(keys) >= 0).all()
    found = median_where(keys, carried, size, key, np.empty(7))
    gaps = np.sort(np.abs(keys - key))
    # Ties may go either way: no median lies outside that of the surely and the possibly nearest.
    possible = np.sort(carried[np.abs(keys - key) <= gaps[6]])
    assert possible[0] <= found <= possible[-1]
    if gaps[6] < gaps[7]:
        assert found == np.median(possible)


def test_a_replaced_value_does_not_evict_another_key():
    """An entry whose value was changed elsewhere is still found by its key."""
    keys, carried = np.zeros(4), np.zeros(4)
    for i, key in enumerate([3.0, 1.0, 4.0, 2.0]):
        put_in_order(keys, carried, i, key, 10.0 * key, 0.0, 0.0)
    put_in_order(keys, carried, 4, 2.5, 25.0, 1.0, 99.0)  # the key 1 carries 10, not 99
    assert keys.tolist() == [2.0, 2.5, 3.0, 4.0]
    assert carried.tolist() == [20.0, 25.0, 30.0, 40.0]


d, SIZE, N = 3, 60, 150
"""Columns, capacity of the ring buffer, events."""

METRIC = np.array([1.0, 0.5, 0.0])


def some_events(kind):
    """Rows of which one column lacks values, targets, and scaled predicted means."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(N, d))
    x[:, 1] = np.where(rng.random(N) < 0.3, ABSENT, 1000.0 + x[:, 1])
    y = 5.0 + np.sin(2.0 * x[:, 0]) + 0.1 * rng.normal(size=N)
    means = 0.2 * (y - 5.0) + 0.1 * rng.normal(size=N)
    if kind == "wild":
        x[[20, 90], 2] = 1e9, -1e9
        y[[40, 80, 81]] = 1e6, -1e150, 300.0
    return x, y, means


class Plain:
    """All events so far, with what is needed to find the nearest by sorting."""

    def __init__(self):
        self.events, self.ys = plain.Events(d, 0), []
        self.rows, self.zs, self.means, self.ts = [], [], [], []

    def predict(self, mean):
        """The three predictions from the last events."""
        p, events = np.full(3, mean), self.events
        center, unit = events.scale
        ys = np.array(self.ys[-SIZE:])
        if len(ys) >= N_SIMILAR:
            away = np.abs(np.array(self.means[-SIZE:]) - (center + unit * mean))
            similar = ys[np.argsort(away)[:N_SIMILAR]]
            p[MEDIAN] = plain.scaled(np.median(similar), events.scale)
            apart = np.clip((np.array(self.rows[-SIZE:]) - events.row) * METRIC, -10.0, 10.0)
            near = ys[np.argsort((apart**2).sum(axis=1))[:N_NEAR]]
            p[NEIGHBOURS] = plain.scaled(np.median(near), events.scale)
        if len(ys) > 0:
            apart = ((np.array(self.zs[-SIZE:]) - events.z) ** 2).sum(axis=1)
            p[NEAREST_AS_OF] = self.ts[-SIZE:][apart.argmin()]
        return p

    def learn(self, x, y, mean):
        """Store the event last described; return its scaled target."""
        center, unit = self.events.scale
        self.rows.append(self.events.row)
        self.zs.append(self.events.z)
        self.means.append(center + unit * mean)
        self.ys.append(y)
        self.ts.append(self.events.join(x, y))
        return self.ts[-1]


@pytest.mark.parametrize("kind", ["normal", "wild"])
def test_predictions_are_those_of_a_sort_of_all_stored_events(kind):
    """From the first event on, and after the ring buffer has overflowed."""
    slots = [np.zeros(SIZE) for _ in range(4)]
    tables = NeighbourTables(*slots[:3], np.zeros((d, SIZE), np.float32), slots[3])
    reference = Plain()
    columns, targets, p = np.zeros((d, SIZE)), np.zeros(SIZE), np.full(3, np.nan)
    differing, found = 0, np.empty(N_FOUND, np.int64)
    for n, (x, y, mean) in enumerate(zip(*some_events(kind), strict=True)):
        reference.events.describe(x)
        row, z = np.array(reference.events.row), np.array(reference.events.z)
        center, unit = reference.events.scale
        n_found = predict_neighbours(
            row, z, mean, center, unit, columns, targets, min(n, SIZE), METRIC, tables, found, p
        )
        assert p == pytest.approx(reference.predict(mean), abs=1e-6)
        assert n_found == (min(n, N_FOUND) if n >= N_SIMILAR else 0)
        far = distances(columns, row)[: min(n, SIZE)]
        assert far[found[:n_found]] == pytest.approx(np.sort(far)[:n_found])
        differing += len({mean, *p.tolist()}) == 4
        i, t = n % SIZE, reference.learn(x, y, mean)
        old_y, targets[i], columns[:, i] = targets[i], y, row
        remember_neighbour(i, min(n, SIZE), z, center + unit * mean, y, old_y, t, tables)
    assert differing > N / 2


def distances(columns, row):
    """Of each stored event to the row, by the metric."""
    return (np.clip((columns - row[:, None]) * METRIC[:, None], -10.0, 10.0) ** 2).sum(axis=0)
