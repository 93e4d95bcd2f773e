import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.learners.preprocessing.moments import Moments, clipped


def after(values) -> Moments:
    moments = Moments()
    for value in values:
        moments = moments.updated(value)
    return moments


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=4))
def test_equals_numpy_before_there_are_bounds(values):
    """Up to the fourth value these are the plain mean and population deviation."""
    moments = after(values)
    assert moments.mean == pytest.approx(np.mean(values), abs=1e-6)
    assert math.sqrt(moments.variance) == pytest.approx(np.std(values), rel=1e-6, abs=1e-6)


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=80))
def test_finite_whatever_arrives(values):
    """No finite double, +-1e308 included, makes a statistic overflow."""
    moments = after(values)
    assert math.isfinite(moments.mean)
    assert math.isfinite(moments.sd)


@pytest.mark.parametrize("constant", [0.0, 1e-300, 1e9 + 0.1, 1e150])
def test_constants_have_no_deviation(constant):
    """Rounding of a constant is not mistaken for spread."""
    assert after([constant] * 100).sd == 0.0


@given(st.floats(allow_nan=False), st.floats(0.0, math.inf))
def test_the_nearest_value_within_the_bounds(value, bound):
    """What lies within +-bound is kept; the rest becomes the nearer bound, and nan stays nan: a
    learner that is broken must not look like one that predicts a bound."""
    result = clipped(value, bound)
    assert abs(result) <= bound
    assert result == (value if abs(value) <= bound else math.copysign(bound, value))
    assert math.isnan(clipped(math.nan, bound))
