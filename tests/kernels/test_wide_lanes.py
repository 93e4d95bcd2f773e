import numpy as np
import pytest
from numba import njit

from iln_stream.kernels.vectors import (
    WIDE_LANES,
    choose,
    larger,
    load,
    root,
    smaller,
    spread,
    store,
    total,
    transpose_tile,
)


@njit
def each(A, i, j, k, m, results):
    """What the operators make of A[i, j:] and A[k, m:], row by row of `results`."""
    a, b = load(A, i, j), load(A, k, m)
    store(results, 0, 0, a + b)
    store(results, 1, 0, a - b)
    store(results, 2, 0, a * b)
    store(results, 3, 0, a / b)
    store(results, 4, 0, smaller(a, b))
    store(results, 5, 0, larger(a, b))
    store(results, 6, 0, choose(a, b, spread(1.0), spread(2.0)))
    store(results, 7, 0, root(a * a))
    return total(a)


@pytest.mark.parametrize(("i", "j", "k", "m"), [(0, 0, 1, 0), (2, 5, 0, 3), (1, 7, 1, 8)])
def test_operators_work_lane_by_lane(i, j, k, m):
    """Each operator gives numpy's results, from any place in any row."""
    A = np.random.default_rng(0).normal(size=(3, WIDE_LANES + 8)).astype(np.float32)
    a, b = A[i, j : j + WIDE_LANES], A[k, m : m + WIDE_LANES]
    results = np.empty((8, WIDE_LANES), np.float32)
    assert each(A, i, j, k, m, results) == pytest.approx(a.sum(), rel=1e-5, abs=1e-5)
    bigger = np.where(a >= b, 1.0, 2.0)
    expected = [a + b, a - b, a * b, a / b, np.minimum(a, b), np.maximum(a, b), bigger, np.abs(a)]
    np.testing.assert_allclose(results, expected, rtol=1e-6)


def test_bounds_replace_nan():
    """A nan does not pass smaller(larger(nan, low), high)."""
    A = np.full((2, WIDE_LANES), np.nan, np.float32)
    A[1] = 3.0
    results = np.empty((8, WIDE_LANES), np.float32)
    each(A, 0, 0, 1, 0, results)
    assert (results[4:6] == 3.0).all()


@njit
def transposed(A, i, j, T):
    transpose_tile(A, i, j, T)


def test_a_tile_is_transposed_to_its_place():
    """Only the tile moves, to the mirrored place."""
    A = np.random.default_rng(1).normal(size=(20, 40)).astype(np.float32)
    T = np.zeros((40, 20), np.float32)
    transposed(A, 3, 20, T)
    expected = np.zeros_like(T)
    expected[20:36, 3:19] = A[3:19, 20:36].T
    np.testing.assert_array_equal(T, expected)
