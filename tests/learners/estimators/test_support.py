import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from iln_stream.learners.estimators.support import Support

FINITE = st.floats(-1e15, 1e15)
INPUTS = st.floats(-(2.0**49), 2.0**49, width=32)  # numbers that rows store exactly


POLICIES = ("oldest", "smallest", "compress")


def filled(support, alphas):
    """The support, with points 0, 1, ... of these coefficients."""
    for k, alpha in enumerate(alphas):
        support.append(np.full(1, k), alpha)
    return support


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
        st.one_of(st.just("shrink"), st.tuples(st.lists(INPUTS, max_size=4), FINITE)), max_size=200
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
    alpha = [alpha for _, alpha in naive.points]
    assert support.alpha.tolist() == pytest.approx(alpha, rel=1e-15, abs=1e-300)
    assert support.rows(d).tolist() == [list(x) + [0.0] * (d - len(x)) for x, _ in naive.points]
    expected = sum(abs(alpha) for _, alpha in naive.points)
    assert support.alpha_l1 == pytest.approx(expected, rel=1e-9, abs=1e-300)


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


def test_a_huge_coefficient_leaves_no_trace():
    """After one alpha of 1e15 left the budget, the small ones are summed and drawn exactly."""
    support = filled(Support(budget=10), [1e15] + [1e-3] * 10)
    assert support.alpha_l1 == pytest.approx(1e-2, rel=1e-12)
    assert set(support.sample(1_000, np.random.default_rng(0))) == set(range(10))


@pytest.mark.parametrize("policy", POLICIES)
def test_memory_is_bounded_by_the_budget(policy):
    """With a budget, arrays stop growing however long the stream."""
    support = Support(100, policy)
    rng = np.random.default_rng(0)
    sizes = set()
    for k in range(20_000):
        support.append(np.full(3, k), rng.standard_normal())
        assert len(support) <= 100
        if k > 1_000:
            sizes.add(bytes_held(support))
    assert len(sizes) == 1
    assert len(support.slots) == 101
    assert len(support.raw) <= 256


def bytes_held(support: Support) -> int:
    arrays = (support.entry, support.raw, support.prefix, support.slots)
    return sum(array.nbytes for array in arrays)


def searched(support: Support, r: np.ndarray) -> np.ndarray:
    """The indices for the shares r of ||alpha||_1, by a search of the sums."""
    below, total = support.prefix[support.first], support.prefix[support.last]
    u = np.minimum(below + r * (total - below), np.nextafter(total, 0.0))
    ends = support.prefix[support.first + 1 : support.last + 1]
    return np.minimum(np.searchsorted(ends, u, side="right"), len(support) - 1)


class Told:
    """An rng that returns given numbers."""

    def __init__(self, r):
        self.r = np.asarray(r, dtype=float)

    def random(self, m):
        assert m == len(self.r)
        return self.r


SHARES = np.concatenate([np.linspace(0.0, 1.0, 999, endpoint=False), [1.0 - 2.0**-53]])


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([None, 1, 2, 7, 70]),
    st.sampled_from(POLICIES),
    st.lists(
        st.one_of(
            st.just("shrink"), st.just("draw"), FINITE, st.floats(-1, 1), st.sampled_from([0, 1e15])
        ),
        max_size=300,
    ),
)
def test_draws_are_those_of_a_search(budget, policy, actions):
    """For any alphas and any lag of the table, it finds the same indices as a search."""
    support = Support(budget, policy)
    for action in [*actions, "draw"]:
        if action == "shrink":
            support.shrink(0.25)
        elif action != "draw":
            support.append(np.zeros(1), action)
        elif support.alpha_l1 > 0:
            i = support.sample(len(SHARES), Told(SHARES))
            assert (i == searched(support, SHARES)).all()
            assert (support.raw[support.first + i] != 0).all()  # alpha itself may underflow


def test_draws_from_many_points():
    """The same for 20,000 points that join and leave while they are drawn from, by a table with
    more buckets than points."""
    rng = np.random.default_rng(0)
    support = Support(5_000)
    for k in range(20_000):
        support.append(np.zeros(1), rng.standard_normal() * (1e6 if k % 3_000 == 0 else 1.0))
        if k % 501 == 0:
            r = rng.random(300)
            assert (support.sample(300, Told(r)) == searched(support, r)).all()
            *_, table, _, _ = support.drawable()
            assert len(table) > len(support)  # draws are O(1)


def test_an_outlier_does_not_blow_up_the_table():
    """A point of 1e15 among ones of 1e-3 costs no memory, before or after it leaves."""
    rng = np.random.default_rng(0)
    support = Support(1_000)
    for k in range(5_000):
        support.append(np.zeros(1), 1e15 if k == 2_500 else 1e-3)
        support.sample(1, rng)
        *_, table, _, _ = support.drawable()
        assert len(table) <= 4 * 4 * 1_000 + 1
    assert support.alpha_l1 == pytest.approx(1.0)


@pytest.mark.parametrize("budget", [None, 40])
def test_thousands_of_shrinks(budget):
    """The one scale never under- or overflows, and new points join a shrunk support rightly."""
    support, naive = Support(budget), NaiveSupport(budget)
    for k in range(5_000):
        support.shrink(0.25)
        naive.shrink(0.25)
        if k % 50 == 0:
            support.append(np.full(1, k), 1.0 + k)
            naive.append([k], 1.0 + k)
    alpha = [alpha for _, alpha in naive.points]
    assert support.alpha.tolist() == pytest.approx(alpha, rel=1e-12, abs=1e-300)
    assert support.alpha_l1 == pytest.approx(sum(alpha), rel=1e-12)
    assert support.sample(100, np.random.default_rng(0)).tolist() == [len(support) - 1] * 100


class TestThinning:
    def test_smallest_keeps_the_largest(self):
        """When full, the half with the largest |alpha| is kept, in its original order."""
        support = filled(Support(5, "smallest"), (5.0, -1.0, 3.0, -4.0, 2.0))
        assert len(support) == 5
        support.append(np.full(1, 5), 0.5)
        assert support.alpha.tolist() == [5.0, 3.0, -4.0]
        assert support.rows(1).tolist() == [[0.0], [2.0], [3.0]]

    def test_smallest_keeps_the_newest_of_equals(self):
        """Equal alphas are evicted by age."""
        support = filled(Support(4, "smallest"), [1.0] * 5)
        assert support.rows(1).ravel().tolist() == [3.0, 4.0]

    def test_compressed_is_unbiased(self):
        """E[alpha of point i] is what it was, for each of 40 points over 1,000 keys (5 sigma)."""
        alpha = np.random.default_rng(0).standard_normal(40) ** 3
        kept = np.zeros((1_000, 40))
        for key, found in enumerate(kept):
            support = filled(Support(39, "compress", key), alpha)
            assert len(support) in (20, 21)  # systematic: a sum of probabilities, rounded
            found[support.rows(1).ravel().astype(int)] = support.alpha
        tau = np.abs(support.alpha).min()
        variance = np.abs(alpha) * (tau - np.abs(alpha)).clip(0.0)  # of 0 or +-tau, or none
        assert (variance > 0).sum() > 10
        error = np.sqrt(variance / len(kept))
        assert (np.abs(kept.mean(axis=0) - alpha) <= 5 * error + 1e-9).all()

    def test_compressed_keeps_the_large_as_they_are(self):
        """Points above tau are unchanged, the others have +-tau, and ||alpha||_1 is preserved."""
        rng = np.random.default_rng(1)
        alpha = rng.standard_normal(101) ** 5
        support = filled(Support(100, "compress", 7), alpha)
        held = support.alpha
        old = alpha[support.rows(1).ravel().astype(int)]
        tau = np.abs(held).min()
        assert (np.abs(held[held == old]) >= tau).all()
        assert np.abs(held[held != old]) == pytest.approx(tau)
        assert (np.sign(held) == np.sign(old)).all()
        assert support.alpha_l1 == pytest.approx(np.abs(alpha).sum(), abs=tau)

    @pytest.mark.parametrize("policy", ["smallest", "compress"])
    def test_budget_of_one(self, policy):
        """One point is kept: the larger, or one of both with all of ||alpha||_1."""
        kept = [(3.0, 1.0)] if policy == "smallest" else [(4.0, 1.0), (-4.0, 2.0)]
        for key in range(20):
            support = Support(1, policy, key)
            support.append(np.full(1, 1.0), 3.0)
            support.append(np.full(1, 2.0), -1.0)
            assert len(support) == 1
            assert (support.alpha[0], support.rows(1)[0, 0]) in kept

    @pytest.mark.parametrize("policy", ["smallest", "compress"])
    def test_zeros_leave_first(self, policy):
        """Points with alpha = 0 never evict others."""
        support = filled(Support(10, policy), [1.0] * 3 + [0.0] * 8)
        assert support.alpha[:3].tolist() == [1.0, 1.0, 1.0]
        assert len(support) <= 6

    @pytest.mark.parametrize("policy", ["smallest", "compress"])
    def test_rows_follow_their_coefficients(self, policy):
        """Slots are freed and reused indefinitely, and points are never mixed up."""
        support = Support(30, policy, 3)
        rng = np.random.default_rng(2)
        signs = {}
        for k in range(3_000):
            alpha = rng.standard_normal()
            signs[float(k)] = np.sign(alpha)
            support.append(np.full(2, k), alpha)
            if k % 7 == 0:
                support.shrink(0.5)
        rows = support.rows(2)
        assert (rows[:, 0] == rows[:, 1]).all()
        assert (np.diff(rows[:, 0]) > 0).all()
        assert [signs[k] for k in rows[:, 0]] == np.sign(support.alpha).tolist()
        assert rows[-1, 0] == 2_999 or policy == "smallest"


@pytest.mark.parametrize(
    ("budget", "policy"), [(None, "oldest"), *((50, each) for each in POLICIES)]
)
def test_copies_go_on_alike(budget, policy):
    """A copy is complete: sums, slots, scale and randomness continue bit for bit."""
    rng = np.random.default_rng(0)
    held = [Support(budget, policy, 5)]
    for k in range(700):
        x, alpha = rng.standard_normal(2 + k // 200), rng.standard_normal()
        for each in held:
            each.append(x, alpha)
            if k % 7 == 0:
                each.shrink(0.01)
        if k == 333:
            held += copy.deepcopy(held[0]), pickle.loads(pickle.dumps(held[0]))
    r = rng.random(1_000)
    for each in held[1:]:
        assert pickle.dumps(each) == pickle.dumps(held[0])
        assert (each.sample(1_000, Told(r)) == held[0].sample(1_000, Told(r))).all()
