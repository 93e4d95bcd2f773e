import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.learners.preprocessing.moments import WINSORISE_FROM, Moments


def after(values) -> Moments:
    moments = Moments()
    for value in values:
        moments = moments.updated(value)
    return moments


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=WINSORISE_FROM))
def test_equals_numpy_until_winsorised(values):
    """Up to the 30th value these are the plain mean and population deviation."""
    moments = after(values)
    assert moments.mean == pytest.approx(np.mean(values), abs=1e-6)
    assert math.sqrt(moments.variance) == pytest.approx(np.std(values), rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=80))
def test_finite_whatever_arrives(values):
    """No finite double, +-1e308 included, makes a statistic overflow."""
    moments = after(values)
    assert math.isfinite(moments.mean)
    assert math.isfinite(moments.sd)


def test_one_outlier_does_no_lasting_harm():
    """1e308 among 1,000 normals moves the mean by less than a deviation's hundredth."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal(1_000).tolist()
    moments = after([*values[:500], 1e308, *values[500:]])
    assert moments.mean == pytest.approx(np.mean(values), abs=0.01)
    assert moments.sd == pytest.approx(1.0, abs=0.1)


def test_follows_a_lasting_change():
    """A level that moves for good is followed, though each value enters winsorised."""
    rng = np.random.default_rng(0)
    moments = after([*rng.standard_normal(200), *(100 + rng.standard_normal(5_000))])
    assert moments.mean > 90


@pytest.mark.parametrize("constant", [0.0, 1e-300, 0.1, 1e9 + 0.1, 1e150])
def test_constants_have_no_deviation(constant):
    """Rounding of a constant is not mistaken for spread."""
    assert after([constant] * 100).sd == 0.0


def test_small_spread_on_a_large_offset_is_seen():
    """x + 1e9 is not constant: deviations of 1 survive."""
    rng = np.random.default_rng(0)
    assert after(1e9 + rng.standard_normal(2_000)).sd == pytest.approx(1.0, abs=0.1)
