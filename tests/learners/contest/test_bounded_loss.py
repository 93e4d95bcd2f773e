"""Bounded losses of errors and probabilities."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.learners.contest import BoundedError, brier_loss

ERRORS = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=50)


@given(ERRORS, st.floats(allow_nan=False, allow_infinity=False))
def test_losses_are_bounded_whatever_the_errors(errors, error):
    """Every loss is in [0, 1], 0 only without an error or far below the typical one."""
    loss = BoundedError()
    for past in errors:
        loss.learn(past)
    assert 0.0 <= loss(error) <= 1.0
    assert math.isfinite(loss.typical_error)
    assert loss(0.0) == 0.0
    assert loss(error) == loss(-error)


def test_typical_error_is_the_mean_without_outliers():
    """One error of a million among errors near 1 hardly changes the scale, which follows drift."""
    loss = BoundedError()
    for k in range(5_000):
        loss.learn(1e6 if k == 3_000 else 0.5 + (k % 2))
    assert loss.typical_error == pytest.approx(1.0, abs=0.02)
    for k in range(10_000):
        loss.learn(100.0 * (0.5 + (k % 2)))
    assert loss.typical_error == pytest.approx(100.0, rel=0.02)
    assert loss(200.0) == pytest.approx(0.5, rel=0.02)


def test_scale_is_that_before_the_event():
    """A loss does not depend on the error itself, and is the same however often it is asked."""
    loss = BoundedError()
    assert loss(5.0) == 1.0
    loss.learn(1.0)
    assert loss(2.0) == loss(2.0) == 0.5


def test_exact_predictions_leave_the_scale():
    """Where most labels are predicted exactly, other errors still have graded losses."""
    loss = BoundedError()
    for k in range(20_000):
        loss.learn(1.0 if k % 50 == 0 else 0.0)
    assert loss(2.0) == pytest.approx(0.5)


def test_brier_loss_is_bounded_and_proper():
    """Certainty costs 0 or 1, and the expected loss is least at the true probability."""
    assert brier_loss({"a": 1.0, "b": 0.0}, "a") == 0.0
    assert brier_loss({"a": 1.0, "b": 0.0}, "b") == 1.0
    assert brier_loss({"a": 1.0}, "never seen") == 1.0
    assert brier_loss({}, "a") == 0.5
    expected = {
        p: 0.7 * brier_loss({True: p, False: 1 - p}, True)
        + 0.3 * brier_loss({True: p, False: 1 - p}, False)
        for p in (0.5, 0.6, 0.7, 0.8, 1.0)
    }
    assert min(expected, key=expected.__getitem__) == 0.7
