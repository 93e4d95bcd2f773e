import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.kernels.intervals import lower_quantile, replace, upper_quantile


@settings(deadline=None)  # the first call compiles
@given(
    values=st.lists(st.integers(-5, 5).map(float) | st.floats(-1e100, 1e100), max_size=60),
    size=st.integers(1, 12),
)
def test_window_stays_sorted(values, size):
    """After any replacements, ties too, the window holds the last values in order."""
    ordered = np.full(size, np.nan)
    for i, value in enumerate(values):
        replace(ordered, min(i, size), values[i - size] if i >= size else 0.0, value)
        last = np.sort(values[max(0, i + 1 - size) : i + 1])
        assert (ordered[: len(last)] == last).all()


@pytest.mark.parametrize(
    ("level", "order"), [(0.001, 1), (0.5, 10), (0.9, 18), (0.95, 19), (0.99, 19)]
)
def test_upper_quantile_is_the_conformal_one(level, order):
    """Rank ceil((n + 1) level), and the largest value where that is beyond the window."""
    assert upper_quantile(np.arange(1.0, 30.0), 19, level) == order


@pytest.mark.parametrize("level", [0.01, 0.05, 0.1, 0.25, 0.45])
def test_lower_quantile_mirrors_the_upper_one(level):
    """The lower quantile is minus the upper one of the negated values."""
    ordered = np.sort(np.random.default_rng(0).normal(size=19))
    mirrored = -upper_quantile(-ordered[::-1], 19, 1.0 - level)
    assert lower_quantile(ordered, 19, level) == mirrored
