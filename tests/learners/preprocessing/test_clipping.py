import math

from hypothesis import given
from hypothesis import strategies as st

from iln_stream.learners.preprocessing.moments import clipped

BOUNDS = st.floats(0.0, math.inf)


@given(st.floats(allow_nan=False), BOUNDS)
def test_the_nearest_value_within_the_bounds(value, bound):
    """What lies within +-bound is kept; the rest becomes the nearer bound."""
    result = clipped(value, bound)
    assert abs(result) <= bound
    assert result == (value if abs(value) <= bound else math.copysign(bound, value))


@given(BOUNDS)
def test_nan_stays_nan(bound):
    """A learner that is broken must not look like one that predicts a bound."""
    assert math.isnan(clipped(math.nan, bound))
