"""Vectors of sixteen lanes, and hints to the compiler."""

import re

import numpy as np
import pytest
from numba import njit

from iln_stream.kernels.vectors import (
    WIDE_LANES,
    choose,
    larger,
    load,
    prefetch,
    root,
    smaller,
    spread,
    store,
    total,
    widest_vectors,
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


@pytest.mark.parametrize(("i", "j", "k", "m"), [(0, 0, 1, 0), (1, 7, 1, 8)])
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
def wide_doubled(x):
    """Double x, with wide vectors."""
    widest_vectors()
    return 2.0 * x


@njit
def doubled(x):
    """Double x."""
    return 2.0 * x


def test_only_the_caller_gets_the_attribute():
    """LLVM vectorises a function's loops at full width only if it has this attribute."""
    assert wide_doubled(3.0) == doubled(3.0) == 6.0
    (wide,), (narrow,) = wide_doubled.inspect_llvm().values(), doubled.inspect_llvm().values()
    assert '"prefer-vector-width"="512"' in wide
    assert "prefer-vector-width" not in narrow


@njit
def sum_with_prefetch(a, ahead):
    """Sum a, and prefetch the number `ahead` of each."""
    total = 0.0
    for i in range(len(a)):
        prefetch(a, i + ahead)
        total += a[i]
    return total


def test_the_compiler_prefetches_for_reading_into_all_caches():
    """LLVM is given its intrinsic with the arguments read, keep, data: else nothing is fetched."""
    sum_with_prefetch(np.ones(3, np.float32), 1)
    (code,) = sum_with_prefetch.inspect_llvm().values()
    calls = re.findall(r"call void @llvm\.prefetch\S*\((.*)\)", code)
    assert calls
    assert all(re.search(r"i32 0, i32 3, i32 1$", arguments) for arguments in calls)


def test_no_value_changes_and_no_address_fails():
    """Prefetching is a hint: the array stays as it is, and addresses beyond its end do no harm."""
    a = np.arange(100, dtype=np.float32)
    for ahead in (0, 16, -1_000, 2**40):
        assert sum_with_prefetch(a, ahead) == 4950.0
    assert a.tolist() == list(range(100))
