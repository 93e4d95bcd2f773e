"""The guide table as the support uses it; tests/kernels/test_guide.py tests the kernels."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.learners.estimators.support import Guide

SHARES = np.concatenate([np.linspace(0.0, 1.0, 500, endpoint=False), [1.0 - 2.0**-53]])


def sums(weights):
    return np.concatenate([[0.0], np.cumsum(weights)])


def searched(prefix, first, last):
    """The positions of the shares, by a search of the sums."""
    below, total = prefix[first], prefix[last]
    u = np.minimum(below + SHARES * (total - below), np.nextafter(total, 0.0))
    return np.searchsorted(prefix[: last + 1], u, "right") - 1


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 1e-9, 0.5, 1.0, 3.0, 1e6]), min_size=1, max_size=300),
    st.lists(st.integers(1, 300), max_size=6),
    st.integers(0, 20),
)
def test_it_finds_the_index_of_a_search(weights, ends, first):
    """Whatever the weights, the window and the steps in which positions join."""
    prefix = sums([1.0] * 21 + weights)
    guide = Guide()
    for last in sorted({21, *(21 + end for end in ends if end <= len(weights))}):
        guide.follow(prefix, first, last)
        found = guide.draw(SHARES, prefix, first, last)
        assert found.tolist() == searched(prefix, first, last).tolist()


def test_positions_leave_at_the_front():
    """A window that moves on, as with a budget, is still searched rightly."""
    rng = np.random.default_rng(0)
    prefix, guide = sums(rng.exponential(size=3_000)), Guide()
    for last in range(100, 3_001, 29):
        guide.follow(prefix, last - 100, last)
        found = guide.draw(SHARES, prefix, last - 100, last)
        assert found.tolist() == searched(prefix, last - 100, last).tolist()


def test_a_cleared_guide_follows_other_sums():
    """After `clear`, positions may have any other sums."""
    rng, guide = np.random.default_rng(1), Guide()
    for _ in range(3):
        prefix = sums(rng.exponential(size=50))
        guide.follow(prefix, 0, 50)
        assert guide.draw(SHARES, prefix, 0, 50).tolist() == searched(prefix, 0, 50).tolist()
        guide.clear()


def test_the_table_stays_in_proportion():
    """However positions join, the table has a small multiple of their number."""
    weights = np.ones(10_000)
    weights[5_000] = 1e15
    prefix, guide = sums(weights), Guide()
    for last in range(1, 10_001):
        guide.follow(prefix, 0, last)
        assert len(guide.table) <= 16 * max(last, 64) + 1


@pytest.mark.parametrize("later", [1.0, 1e-6])
def test_the_table_grows_with_the_positions(later):
    """There are more buckets than positions, also if later ones hardly fill it: draws are O(1)."""
    weights = np.full(5_000, later)
    weights[:100] = 1.0
    prefix, guide = sums(weights), Guide()
    for last in range(1, 5_001):
        guide.follow(prefix, 0, last)
        assert len(guide.table) > last


def test_a_draw_leaves_the_shares_alone():
    """The caller's numbers are not overwritten."""
    prefix, guide, r = sums(np.ones(5)), Guide(), SHARES.copy()
    guide.follow(prefix, 0, 5)
    guide.draw(r, prefix, 0, 5)
    assert r.tolist() == SHARES.tolist()


def test_a_copy_is_empty():
    """The table follows from the sums, so a pickle does not carry it."""
    prefix, guide = sums(np.ones(5_000)), Guide()
    guide.follow(prefix, 0, 5_000)
    assert len(pickle.dumps(guide)) < 200
    assert len(pickle.loads(pickle.dumps(guide)).table) == 0
