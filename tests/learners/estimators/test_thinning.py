"""The choice of survivors; tests/kernels/test_thinning.py tests the kernels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.learners.estimators.support import thin_out

COEFFICIENTS = st.lists(
    st.floats(-10.0, 10.0).filter(lambda v: v == 0.0 or abs(v) > 1e-3), min_size=2, max_size=60
)


@settings(deadline=None)
@given(COEFFICIENTS, st.data())
def test_smallest_keeps_the_largest(raw, data):
    """Exactly the target survives, none is smaller than one that left, and none is changed."""
    raw = np.array(raw)
    target = data.draw(st.integers(1, len(raw) - 1))
    new = raw.copy()
    stay = thin_out(new, target, "smallest", 0, 0)
    assert stay.sum() == target
    assert np.abs(raw[stay]).min() >= np.abs(raw[~stay]).max()
    assert new.tolist() == raw.tolist()


def test_smallest_prefers_the_newest_of_equals():
    """Among equal sizes the oldest leave."""
    stay = thin_out(np.array([1.0, -1.0, 5.0, 1.0, -1.0]), 3, "smallest", 0, 0)
    assert stay.tolist() == [False, False, True, True, True]


@settings(deadline=None)
@given(COEFFICIENTS, st.integers(0, 2**63), st.integers(0, 10**6), st.data())
def test_compress_keeps_about_the_target(raw, key, number, data):
    """The target survives, give or take one, or all that are not 0 if these are fewer."""
    raw = np.array(raw)
    target = data.draw(st.integers(1, len(raw) - 1))
    new = raw.copy()
    stay = thin_out(new, target, "compress", key, number)
    nonzero = np.count_nonzero(raw)
    assert abs(stay.sum() - min(target, nonzero)) <= 1
    assert (np.sign(new[stay]) == np.sign(raw[stay])).all()
    assert (np.abs(new[stay]) >= np.abs(raw[stay])).all()
    assert not stay[raw == 0.0].any()


def test_compress_preserves_the_mean():
    """The mean over 20,000 numbers of a coefficient that becomes 0 if it leaves is what it was.

    Each of 40 means lies within 5 standard errors: a sound choice fails once in 40,000 seeds.
    """
    raw = np.random.default_rng(0).standard_normal(40) ** 3
    kept = np.zeros((20_000, 40))
    for number, row in enumerate(kept):
        new = raw.copy()
        stay = thin_out(new, 20, "compress", 7, number)
        row[stay] = new[stay]
    error = kept.std(axis=0) / np.sqrt(len(kept))
    assert (np.abs(kept.mean(axis=0) - raw) <= 5 * error + 1e-9).all()
    assert (error > 0).sum() > 10  # many are left to chance


def test_the_choice_is_a_function_of_key_and_number():
    """The same seeds choose the same; another key or number chooses others."""
    raw = np.random.default_rng(0).standard_normal(100)
    choices = [
        tuple(thin_out(raw.copy(), 50, "compress", key, number))
        for key, number in ((1, 1), (1, 1), (1, 2), (2, 1))
    ]
    assert choices[0] == choices[1]
    assert len(set(choices)) == 3


@pytest.mark.parametrize("policy", ["smallest", "compress"])
def test_one_survivor(policy):
    """A target of one leaves one."""
    assert thin_out(np.array([3.0, -1.0]), 1, policy, 0, 0).sum() == 1
