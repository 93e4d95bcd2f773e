import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.learners.estimators import DrawPolicy, Estimate


def test_mean_and_its_standard_error():
    """An estimate from terms is their mean, with the standard error of a mean."""
    terms = np.array([1.0, 4.0, 2.5, -3.0, 0.5])
    value, standard_error, draws = Estimate.from_terms(terms)
    assert value == pytest.approx(1.0)
    assert standard_error == pytest.approx(np.std(terms, ddof=1) / math.sqrt(5))
    assert draws == 5


@given(st.floats(0.01, 1.0), st.floats(0.0, 1e6), st.integers(1, 20), st.integers(20, 10**6))
def test_draws_keep_the_variance_within_the_bounds(q, alpha_l1, fewest, most):
    """m is the least number with q ||alpha||_1^2 / m <= v, within its bounds."""
    policy = DrawPolicy(None, 0.02, fewest, most)
    m = policy.m(q, alpha_l1)
    assert fewest <= m <= most
    if m < most:
        assert q * alpha_l1**2 / m <= 0.02 * (1 + 1e-12)
    if m > fewest:
        assert q * alpha_l1**2 / (m - 1) > 0.02 * (1 - 1e-12)
    assert (policy.wanted(q, alpha_l1) > most) == (q * alpha_l1**2 / 0.02 > most)


def test_fixed_draws():
    """A fixed number of draws ignores the bounds."""
    assert DrawPolicy(7, 0.01, 16, 100).m(1.0, 1e6) == 7
