"""Compiled loops over the points of a support: draws, thinning, sums of units."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.features.affine import activate
from iln_stream.kernels.activations import CODES, TURNS
from iln_stream.kernels.supports import (
    add_points,
    close_gaps,
    expansion,
    extend,
    mean_and_square,
    positions,
    systematic,
    threshold,
)


class Drawn:
    """Sums with a guide table that covers some of them."""

    def __init__(self, weights, first, buckets):
        self.prefix = np.concatenate([[0.0], np.cumsum(weights)])
        self.first, self.covered, self.filled = first, first, 0
        self.table = np.full(buckets + 1, 10**6, np.int32)
        self.origin, self.per_unit = float(self.prefix[first]), 1.0

    def cover(self, last, of_the_table=0.5):
        """Add positions to the table; the first call decides how many sums fill it."""
        if self.filled == 0:
            total = float(self.prefix[last]) - self.origin
            self.per_unit = of_the_table * (len(self.table) - 1) / total
        self.filled = extend(
            self.prefix, self.covered, last, self.table, self.filled, self.origin, self.per_unit
        )
        self.covered = last

    def check(self, shares):
        """The positions of these shares are those of a search through all sums."""
        u, n, last = np.array(shares), len(shares), self.covered
        p = np.full(n, -1)
        positions(
            u, n, self.prefix, self.first, last, self.table, self.origin, self.per_unit, p
        )  # fmt: skip
        low, high = self.prefix[self.first], self.prefix[last]
        assert u == pytest.approx(np.minimum(low + np.array(shares) * (high - low), high))
        assert (u < high).all()
        assert p.tolist() == (np.searchsorted(self.prefix[: last + 1], u, "right") - 1).tolist()


SHARES = [*np.linspace(0.0, 1.0, 64, endpoint=False), 1.0 - 2.0**-40, 1.0 - 2.0**-53]


@settings(deadline=None, max_examples=80)  # the first call compiles
@given(
    st.lists(st.sampled_from([0.0, 0.0, 1.0, 1.0, 3.0, 64.0, 1e-9, 1e6]), min_size=2, max_size=40),
    st.data(),
)
def test_draws_are_those_of_a_search(weights, data):
    """Each share of the sums falls to the position that a search finds.

    Whatever the weights, zeros too, and however the table came to cover them, or came to its end.
    """
    weights = [2.0, *weights]
    first = data.draw(st.integers(0, len(weights) - 1))
    weights[first] = 2.0  # some share is there to draw
    drawn = Drawn(weights, first, data.draw(st.sampled_from([1, 4, 64])))
    for last in sorted(data.draw(st.sets(st.integers(first + 1, len(weights)), min_size=1))):
        drawn.cover(last)
        drawn.check(SHARES)
    drawn.check([])


@pytest.mark.parametrize("joining", [1, 500])
def test_many_beyond_the_table(joining):
    """Sums that outgrow the table a hundredfold are found, whether added singly or at once."""
    rng = np.random.default_rng(0)
    drawn = Drawn(rng.exponential(size=1_000), 0, 64)
    drawn.cover(10)
    for last in range(10 + joining, 1_001, joining):
        drawn.cover(last)
    drawn.check(rng.random(1_000))


raws = st.lists(
    st.floats(-10.0, 10.0).filter(lambda v: v == 0.0 or abs(v) > 1e-3)
    | st.sampled_from([0.0, 1.0, -1.0, 1e9, 1e-9]),
    min_size=2,
    max_size=40,
).filter(lambda raw: np.count_nonzero(raw) >= 2)


def target_of(raw, data):
    """A target below the number that could stay."""
    return data.draw(st.integers(1, np.count_nonzero(raw) - 1))


@settings(deadline=None, max_examples=25)
@given(raws, st.data())
def test_each_stays_with_its_chance_and_weighs_as_much_on_average(raw, data):
    """Over 200 evenly spread starts; the number of survivors is the target, give or take one."""
    raw, n = np.array(raw), 200
    target = target_of(raw, data)
    tau = threshold(raw, target)
    stays, weighs = np.zeros(len(raw)), np.zeros(len(raw))
    for i in range(n):
        stay, new = np.full(len(raw), i % 2 == 0), raw.copy()
        systematic(new, tau, (i + 0.5) / n, stay)
        assert abs(np.count_nonzero(stay) - target) <= 1
        assert stay[np.abs(raw) >= tau].all()
        assert (np.abs(new[stay]) >= tau).all()
        stays += stay
        weighs += np.where(stay, new, 0.0)
    assert stays / n == pytest.approx(np.minimum(1.0, np.abs(raw) / tau), abs=1.5 / n)
    assert (np.abs(weighs / n - raw) <= 1.5 / n * np.maximum(tau, np.abs(raw))).all()


def test_who_is_just_large_enough():
    """A weight at the threshold or a little beyond it survives unchanged from every start."""
    for start in (0.0, 0.4, 0.999):
        raw, stay = np.array([0.5, -1.005, 1.0, 0.5]), np.zeros(4, bool)
        systematic(raw, 1.0, start, stay)
        assert raw.tolist() == [1.0, -1.005, 1.0, 1.0]
        assert stay[1:3].all()
        assert stay.sum() == 3


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20), st.integers(0, 3))
def test_gaps_are_closed(points, first):
    """Survivors move to the front in order, with their weights; the others' slots become free."""
    n = len(points)
    stay = np.array([s for s, _ in points], bool)
    slots = np.random.default_rng(n).permutation(n)
    entry = np.full(first + n + 1, 99, np.int32)
    entry[first : first + n] = np.where([negative for _, negative in points], ~slots, slots)
    raw = np.arange(first + n + 1, dtype=float)
    entries, raws_before = entry[first : first + n].copy(), raw[first : first + n].copy()
    free = np.array([1_000, *[-1] * (n + 1)], np.int32)
    assert close_gaps(stay, first, entry, raw, free, 1) == stay.sum()
    assert entry[: stay.sum()].tolist() == entries[stay].tolist()
    assert raw[: stay.sum()].tolist() == raws_before[stay].tolist()
    assert free[: 1 + (~stay).sum()].tolist() == [1_000, *slots[~stay].tolist()]


R = 37


def units(name, omega, b, X):
    """The first R units in double precision, shape (n, R)."""
    z = X @ omega[: X.shape[1], :R].astype(np.float64) + b[:R].astype(np.float64)
    z /= TURNS if name == "cos" else 1.0
    return activate(name, z.ravel()).reshape(z.shape)


def some(d):
    """omega and b, with room left."""
    rng = np.random.default_rng(0)
    omega = rng.standard_normal((d + 2, R + 5)).astype(np.float32)
    return omega, rng.standard_normal(R + 5).astype(np.float32)


@pytest.mark.parametrize(("name", "d"), [*((name, 6) for name in CODES), ("cos", 0), ("tanh", 9)])
def test_mean_and_square_equal_numpy(name, d):
    """Any number of columns, also 0 and non-multiples of four; spare capacity is ignored."""
    omega, b = some(d)
    rng = np.random.default_rng(1)
    x, theta, share = rng.standard_normal(d), rng.standard_normal(R), rng.uniform(0.5, 2.0, R)
    z, psi = np.empty(R), np.empty(R, np.float32)
    mean, square = mean_and_square(CODES[name], omega, b, x, theta, share, z, psi)
    expected = units(name, omega, b, x[np.newaxis])[0]
    np.testing.assert_allclose(psi, expected, rtol=1e-6, atol=1e-6)
    terms = theta * share * expected
    assert mean == pytest.approx(terms.mean(), abs=2e-6)
    assert square == pytest.approx((terms**2).mean(), abs=2e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("name", "n"), [*((name, 700) for name in CODES), ("cos", 0), ("cos", 1), ("cos", 256)]
)
def test_expansion_equals_numpy(name, n, dtype):
    """sum_i alpha_i psi(x_i; w), over less than a block, whole blocks and a rest; the points may be
    slices of wider rows.
    """
    omega, b = some(3)
    rng = np.random.default_rng(1)
    X, alpha = rng.standard_normal((n, 8)).astype(dtype)[:, :3], rng.standard_normal(n)
    theta, rows = np.full(4, np.nan), omega[:3, 5:9].T.astype(np.float64, order="C")
    expansion(CODES[name], rows, b[5:9].astype(np.float64), X, alpha, theta)
    expected = alpha @ units(name, omega, b, X.astype(np.float64))[:, 5:9]
    np.testing.assert_allclose(theta, expected, rtol=0, atol=1e-6 * (1 + np.abs(alpha).sum()))


@pytest.mark.parametrize(
    ("name", "n", "r"),
    [*((name, 30, 17) for name in CODES), ("cos", 0, 4), ("cos", 1, 1), ("cos", 3, 0)],
)
def test_sums_over_points(name, n, r):
    """theta_r grows by sum_i alpha_i sigma(z[i, r] + b_r), over none, one and many points."""
    rng = np.random.default_rng(n)
    z, b = rng.normal(size=(n, r)).astype(np.float32), rng.normal(size=r).astype(np.float32)
    alpha, theta = rng.normal(size=n), rng.normal(size=r)
    arguments = z.astype(float) + b
    psi = activate(name, arguments.ravel() / (TURNS if name == "cos" else 1.0)).reshape(n, r)
    expected = theta + alpha @ psi
    add_points(theta, z, b, alpha, CODES[name])
    np.testing.assert_allclose(theta, expected, rtol=0, atol=2e-6 * (1 + np.abs(alpha).sum()))
