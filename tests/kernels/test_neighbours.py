import numpy as np
import pytest
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
    predict_neighbours,
    remember_neighbour,
)

d, SIZE, N = 3, 60, 150
"""Columns, capacity of the ring buffer, events."""

METRIC = np.array([1.0, 0.5, 0.0])


def empty_tables(size):
    """Tables of no events."""
    return NeighbourTables(
        np.zeros(size), np.zeros(size), np.zeros(size), np.zeros((d, size), np.float32),
        np.zeros(size),
    )  # fmt: skip


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
    tables, reference = empty_tables(SIZE), Plain()
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


@pytest.mark.parametrize("filled", [0, 1, N_SIMILAR - 1, N_SIMILAR])
def test_few_events_predict_the_mean(filled):
    """Medians need 31 events, the nearest event one; without them the prediction is the mean."""
    tables, zeros = empty_tables(SIZE), np.zeros(d)
    for i in range(filled):
        remember_neighbour(i, i, zeros, 2.0, 4.0, 0.0, 1.5, tables)
    p, y = np.full(3, np.nan), np.full(SIZE, 7.0)
    columns = np.zeros((d, SIZE))
    predict_neighbours(
        zeros,
        zeros,
        0.25,
        1.0,
        6.0,
        columns,
        y,
        filled,
        METRIC,
        tables,
        np.empty(N_FOUND, np.int64),
        p,
    )
    medians = [0.5, 1.0] if filled >= N_SIMILAR else [0.25, 0.25]
    assert p.tolist() == [*medians, 1.5 if filled else 0.25]


@pytest.mark.parametrize("n", [1, 4, 5, 13])
def test_tables_hold_the_last_events(n):
    """Each slot has its event, and the means are in order with the targets of their events."""
    size, rng = 5, np.random.default_rng(1)
    tables, targets = empty_tables(size), np.zeros(size)
    events = rng.normal(size=(n, d + 3))
    for k, event in enumerate(events):
        i, z, (mean, y, t) = k % size, event[:d], event[d:]
        remember_neighbour(i, min(k, size), z, mean, y, targets[i], t, tables)
        targets[i] = y
    kept = np.arange(max(0, n - size), n)
    slots, last = kept % size, events[kept]
    assert pytest.approx(last[:, :d], abs=1e-6) == tables.deviations[:, slots].T
    assert tables.means[slots].tolist() == last[:, d].tolist()
    assert tables.scaled[slots].tolist() == last[:, d + 2].tolist()
    filled = min(n, size)
    pairs = zip(tables.ordered[:filled].tolist(), tables.carried[:filled].tolist(), strict=True)
    assert list(pairs) == sorted(map(tuple, last[:, d : d + 2].tolist()))
