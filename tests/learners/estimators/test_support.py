import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from iln_stream.learners.estimators.support import Support

FINITE = st.floats(-1e15, 1e15)


class NaiveSupport:
    """The same as plain lists."""

    def __init__(self, budget):
        self.points, self.budget = [], budget

    def append(self, x, alpha):
        self.points.append((x, alpha))
        if self.budget is not None:
            self.points = self.points[-self.budget :]

    def shrink(self, factor):
        self.points = [(x, alpha * factor) for x, alpha in self.points]


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([None, 1, 3, 70]),
    st.lists(
        st.one_of(st.just("shrink"), st.tuples(st.lists(FINITE, max_size=4), FINITE)), max_size=200
    ),
)
def test_equals_plain_lists(budget, actions):
    """Windows, growth and lazy prefix sums never change which points and alphas are held."""
    support, naive = Support(budget), NaiveSupport(budget)
    d = 0
    for action in actions:
        if action == "shrink":
            support.shrink(0.25)
            naive.shrink(0.25)
        else:
            x, alpha = action
            d = max(d, len(x))
            support.append(np.array(x + [0.0] * (d - len(x))), alpha)
            naive.append(x, alpha)
    assert len(support) == len(naive.points)
    assert support.alpha.tolist() == [alpha for _, alpha in naive.points]
    assert support.rows(d).tolist() == [list(x) + [0.0] * (d - len(x)) for x, _ in naive.points]
    expected = sum(abs(alpha) for _, alpha in naive.points)
    assert support.alpha_l1 == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_rows_wider_than_any_point():
    """A prediction may know more columns than the support: these are 0 there."""
    support = Support()
    support.append(np.array([1.0, 2.0]), 1.0)
    assert support.rows(4).tolist() == [[1.0, 2.0, 0.0, 0.0]]


@pytest.mark.parametrize("budget", [None, 8])
def test_sampling_law(budget):
    """i is drawn with probability |alpha_i| / ||alpha||_1: chi-square at 1e-6."""
    rng = np.random.default_rng(0)
    support = Support(budget)
    for k in range(300 if budget else 12):
        support.append(np.zeros(1), (-1) ** k * rng.exponential())
    support.shrink(0.25)
    n = 200_000
    counts = np.bincount(support.sample(n, rng), minlength=len(support))
    expected = n * np.abs(support.alpha) / np.abs(support.alpha).sum()
    assert stats.chisquare(counts, expected).pvalue > 1e-6


def test_zero_coefficients_are_never_drawn():
    """A point that carries nothing takes no draws."""
    support = Support()
    for alpha in (0.0, 2.0, 0.0, -1.0, 0.0):
        support.append(np.zeros(1), alpha)
    assert set(support.sample(10_000, np.random.default_rng(0))) == {1, 3}


def test_a_huge_coefficient_leaves_no_trace():
    """After one alpha of 1e15 left the budget, the small ones are summed and drawn exactly."""
    support = Support(budget=10)
    support.append(np.zeros(1), 1e15)
    for _ in range(10):
        support.append(np.zeros(1), 1e-3)
    assert support.alpha_l1 == pytest.approx(1e-2, rel=1e-12)
    assert set(support.sample(1_000, np.random.default_rng(0))) == set(range(10))


def test_memory_is_bounded_by_the_budget():
    """With a budget, arrays stop growing however long the stream."""
    support = Support(budget=100)
    for _ in range(20_000):
        support.append(np.zeros(3), 1.0)
    assert len(support) == 100
    assert len(support._rows) <= 256
