"""Corollary 1's average against the average of all f_t, each kept."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.iterates import context

from iln_stream.features import GaussianFourier
from iln_stream.learners.estimators import Averaged, Pool
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

FAMILY = GaussianFourier(gamma=0.5)


def started():
    return Averaged().start(context(FAMILY, m=50))


ACTIONS = st.lists(
    st.tuples(st.booleans(), st.floats(-1e3, 1e3)), max_size=60
)  # whether event t shrinks, and its alpha if not


@settings(deadline=None)
@given(ACTIONS)
def test_coefficients_are_the_mean_of_all(actions):
    """For any appends and shrinks the O(1) bookkeeping gives the mean of all f_t's alpha."""
    f, alpha, all_alpha = started(), [], []
    for t, (shrinks, value) in enumerate(actions):
        all_alpha.append(list(alpha))
        if shrinks:
            f.shrink(0.25)
            alpha = [a / 4 for a in alpha]
        else:
            f.append(np.array([float(t)]), value)
            alpha.append(value)
    n = len(alpha)
    padded = np.array([a + [0.0] * (n - len(a)) for a in all_alpha]).reshape(len(actions), n)
    expected = padded.mean(axis=0) if len(actions) else np.zeros(0)
    average = f.average().support
    np.testing.assert_allclose(average.alpha, expected, rtol=1e-12, atol=1e-12)
    assert average.alpha_l1 == pytest.approx(np.abs(expected).sum(), rel=1e-9, abs=1e-12)
    assert average.rows(1).tolist() == f.current.support.rows(1).tolist()


def test_thousands_of_shrinks():
    """The scale is reset before it underflows, without losing earlier sums."""
    f, total, alpha = started(), 0.0, 0.0
    f.append(np.zeros(1), 3.0)
    alpha = 3.0
    for _ in range(2000):
        total += alpha
        alpha /= 4
        f.shrink(0.25)
    for _ in range(2):  # and points that come later count from then on
        f.append(np.zeros(1), 1.0)
    average = f.average().support.alpha
    np.testing.assert_allclose(average * 2003, [total, 1.0, 0.0], rtol=1e-12)
    assert math.isfinite(f.average().alpha_l1)


def test_learning_is_as_without():
    """Keeping or reading the average changes no E_t and no alpha."""
    with_it = ShrinkingGradient(estimator="averaged", seed=3)
    without = ShrinkingGradient(estimator="sampled", seed=3)
    for t in range(100):
        x, y = {"a": math.sin(t)}, math.cos(t)
        with_it.estimate_average(x)
        assert with_it.predict_one(x) == without.predict_one(x)
        with_it.learn_one(x, y)
        without.learn_one(x, y)
    assert with_it.alpha_l1 == without.alpha_l1


def test_an_average_is_a_moments():
    """The points are shared with f_t, yet further learning changes no average taken before."""
    f = started()
    for t in range(200):
        if t == 40:
            average = f.average()
            alpha, rows = average.support.alpha.copy(), average.support.rows(1).copy()
        f.append(np.array([float(t)]), 1.0)
    f.shrink(0.25)
    assert average.support.alpha.tolist() == alpha.tolist()
    assert average.support.rows(1).tolist() == rows.tolist()
    average.append(np.array([7.0]), 1.0)  # nor the other way round
    assert f.current.support.rows(1)[:, 0].tolist() == list(range(200))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"budget": 10}, "budget = 10 must be None for the average"),
        ({"estimator": Averaged(Pool(8))}, r"estimator = Pool\(size=8\) keeps no points"),
    ],
)
def test_what_can_not_be_averaged_is_refused(parameters, message):
    """A support with a budget, and a pool, can't keep the average: an error says so at once."""
    with pytest.raises(ValueError, match=message):
        ShrinkingGradient(**{"estimator": "averaged", **parameters})
