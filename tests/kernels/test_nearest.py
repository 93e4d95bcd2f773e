"""The nearest stored events, against sorting all; what they predict is recomputed where their
engine is tested.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.kernels.columns import COUNT, MEAN, SQUARES, no_statistics
from iln_stream.kernels.nearest import (
    N_FOUND,
    N_SIMILAR,
    median_where,
    most_alike,
    nearest,
    predict_neighbours,
    put_in_order,
    remember_neighbour,
    set_metric,
)
from iln_stream.learners.infinite_layer.experts.rls_bank import FLOOR, blended


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


@pytest.mark.parametrize("outer", ["of gradients", "zero", "nan"])
def test_the_metric_is_that_of_relevance(outer):
    """The root of a column's share in the gradients, per deviation; shares are equal if unknown."""
    rng, n_lags = np.random.default_rng(0), 2
    gradients, values = rng.normal(size=(6, 50)), rng.normal(size=(4, 90))
    agop = gradients @ gradients.T * {"of gradients": 1.0, "zero": 0.0, "nan": np.nan}[outer]
    values[3] = 5.0  # constant
    stats, metric, sd = no_statistics(4), np.ones(4), values.std(axis=1)
    stats[COUNT], stats[MEAN], stats[SQUARES] = 90.0, values.mean(axis=1), 90.0 * sd**2
    set_metric(agop, n_lags, FLOOR, stats, metric)
    relevance = np.diag(blended(agop[n_lags:, n_lags:]))
    assert metric[:3] == pytest.approx(np.sqrt(relevance[:3]) / sd[:3], rel=1e-12)
    assert metric[3] == 0.0


@pytest.mark.parametrize(("n", "n_found"), [(N_SIMILAR - 1, 0), (60, N_FOUND)])
def test_the_nearest_events_are_named(n, n_found):
    """Beside the predictions, those who ask get the slots of the nearest events, by the metric."""
    rng, metric = np.random.default_rng(0), np.array([1.0, 0.5, 0.0])
    columns, y, row = rng.normal(size=(3, 60)), rng.normal(size=60), rng.normal(size=3)
    times, values = np.zeros((3, 60)), np.zeros((3, 60), np.float32)
    tables = (*times, values, np.zeros(60))  # of the learner's types: that code is compiled
    for i in range(n):
        remember_neighbour(i, columns[:, i].copy(), y[i], y[i], 0.0, y[i], tables)
    found, p = np.empty(N_FOUND, np.int64), np.empty(3)
    arguments = row, row, 0.0, 0.0, 1.0, columns, y, n, metric, tables, found, p
    assert predict_neighbours(*arguments) == n_found
    distances = ((columns[:, :n].T - row) * metric) ** 2
    assert found[:n_found].tolist() == np.argsort(distances.sum(axis=1))[:n_found].tolist()
