"""Statistics of columns, deviations, and which numbers are finite.

Changes of level and scale are followed at once; outliers and usual excursions are not.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernels.plain import Column, joined, moments

import iln_stream.kernels
from iln_stream.kernels.columns import (
    ABSENT,
    CHANGED_AT,
    CONSTANT,
    COUNT,
    DOUBTS,
    HIGH,
    LARGEST_FLOAT,
    LOW,
    MEAN,
    ONE_SIDED,
    PATIENCE,
    ROUGHNESS,
    SQUARES,
    YOUNG,
    in_deviations,
    join,
    n_broken,
    no_statistics,
    standardise,
    standardise_again,
    value_of,
)
from iln_stream.kernels.mixing import fill


def check(rows):
    """Statistics updated row by row agree with those recomputed from all values before."""
    d = rows.shape[1]
    stats, columns = no_statistics(d), [Column() for _ in range(d)]
    row, z, again = np.full(d, np.nan), np.full(d, np.nan), np.full(d, np.nan)
    for x in rows:
        standardise(x, stats, row, z)
        assert row.tolist() == [c.value(v) for c, v in zip(columns, x, strict=True)]
        expected = [c.with_itself(v) for c, v in zip(columns, x, strict=True)]
        assert z == pytest.approx(expected, rel=1e-7, abs=1e-7)
        join(x, stats, 0)
        joined(columns, x)
        standardise_again(row, stats, again)
        expected = [c.deviation(v, c.joined) for c, v in zip(columns, row, strict=True)]
        assert again == pytest.approx(expected, rel=1e-7, abs=1e-7)
    for j, column in enumerate(columns):
        mean, squares = moments(column.joined)
        assert stats[COUNT, j] == len(column.joined)
        assert stats[MEAN, j] == pytest.approx(mean, rel=1e-12, abs=1e-12)
        assert stats[SQUARES, j] == pytest.approx(squares, rel=1e-9, abs=1e-18 * mean**2)
        assert stats[LOW, j] == min(column.present, default=ABSENT)
        assert stats[HIGH, j] == max(column.present, default=-ABSENT)


@settings(deadline=None, max_examples=40)  # the first call compiles
@given(
    st.lists(st.tuples(*[st.none() | st.integers(-9, 9)] * 2), max_size=12),
    st.sampled_from([0.0, 5.0, -1e3, 1e6]),
    st.sampled_from([1e-3, 1.0, 1e9]),
)
def test_any_rows(rows, offset, unit):
    """Values and deviations follow the definition, whichever values are wild or absent."""
    values = [[ABSENT if v is None else offset + unit * v for v in row] for row in rows]
    check(np.array(values).reshape(-1, 2))


def test_long_streams():
    """From the 30th value on outliers are winsorised: before and after it, wild and constant."""
    rng = np.random.default_rng(0)
    n = 90
    rows = np.column_stack(
        [
            rng.normal(size=n),
            rng.standard_t(1.1, size=n) ** 3,
            np.full(n, 1e9 + 0.1),
            np.where(rng.random(n) < 0.5, 1000.0 + rng.normal(size=n), ABSENT),
            np.where(rng.random(n) < 0.5, rng.normal(size=n), ABSENT),
            np.full(n, ABSENT),
            np.where(np.arange(n) < 35, 2.0, rng.normal(size=n)),
        ]
    )
    rows[60, 0] = 1e12
    check(rows)


def test_no_columns():
    """A row without columns is a row."""
    check(np.empty((3, 0)))


@pytest.mark.parametrize(
    ("values", "meant"),
    [
        ([], ABSENT),
        ([1.0], 0.0),
        ([1000.0, 1000.0], 0.0),
        ([1.0, 2.0], 0.0),
        ([1.0, 1.9], ABSENT),
        ([-1.9, -1.0], ABSENT),
        ([-2.0, -1.0], 0.0),
        ([-1.0, 5.0], 0.0),
    ],
)
def test_what_absent_means(values, meant):
    """0 for an indicator, and for values that spread at least as far as they are from 0."""
    stats = no_statistics(1)
    for value in values:
        join(np.array([value]), stats, 0)
    assert value_of(np.array([ABSENT]), stats, 0) == meant
    assert value_of(np.array([-3.5]), stats, 0) == -3.5


@pytest.mark.parametrize(
    ("value", "mean", "squares", "n", "deviation"),
    [
        (3.0, 1.0, 16.0, 4.0, 1.0),
        (1e9, 0.0, 4.0, 4.0, 5.0),
        (-1e12, 0.0, 4.0, 4.0, -5.0),
        (1e100, 0.0, 1000.0, 1000.0, 5.0),  # not 0, however far out
        (1.0, 1.0, 0.0, 5.0, 0.0),
        (2.0**30 + 2.0**-13, 2.0**30, 1.1e-6, 100.0, 0.0),  # is rounding
        (2.0**30 + 2.0**-13, 2.0**30, 1.2e-6, 100.0, 2.0**-13 / 1.2e-8**0.5),  # is more
        (1e-200, 0.0, 5e-324, 10.0, 0.0),  # the quotient underflows
        (0.0, 0.0, 0.0, 0.0, 0.0),
    ],
)
def test_deviations_at_the_extremes(value, mean, squares, n, deviation):
    """Deviations are clipped at five, and are 0 if values vary by rounding only."""
    assert in_deviations(value, mean, squares, n) == pytest.approx(deviation, abs=1e-12)


def fed(values, stats=None, first=0):
    """The statistics of one column after these values, and the events that changed it."""
    stats, changes = no_statistics(1) if stats is None else stats, []
    for n, value in enumerate(np.asarray(values, float)[:, np.newaxis], first):
        join(value, stats, n)
        if stats[CHANGED_AT, 0] == n > 0:
            changes.append(n)
    return stats, changes


def sd(stats, j=0):
    return np.sqrt(stats[SQUARES, j] / stats[COUNT, j])


def correlated(n, correlation, rng):
    """Normal values whose neighbours have this correlation."""
    noise, values = np.sqrt(1.0 - correlation**2) * rng.normal(size=n), np.zeros(n)
    for i in range(1, n):
        values[i] = correlation * values[i - 1] + noise[i]
    return values


CHANGES = {
    "up 5": (5.0, 1.0, 20),
    "down 50": (-50.0, 1.0, 8),
    "up a million": (1e6, 1.0, 8),
    "ten times": (0.0, 10.0, 120),
    "a hundredth": (0.0, 0.01, 40),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_followed_however_long_the_history(kind):
    """It is seen within some events, once, and 300 events later the statistics are the new ones."""
    level, scale, within = CHANGES[kind]
    rng, n = np.random.default_rng(0), 10_000
    stats, before = fed(rng.normal(size=n))
    after = level + scale * rng.normal(size=300)
    stats, changes = fed(after, stats, n)
    assert before == []
    assert len(changes) == 1
    assert n <= changes[0] < n + within
    assert stats[MEAN, 0] == pytest.approx(level, abs=0.3 * scale)
    assert sd(stats) == pytest.approx(scale, rel=0.2)
    first = after[0] if changes[0] < n + 30 else after[changes[0] - n - 29 :].min()
    assert stats[LOW, 0] <= first <= stats[HIGH, 0]


@pytest.mark.parametrize("correlation", [0.9, 0.99])
def test_values_that_change_slowly_keep_their_scale(correlation):
    """A short run deviates little from its own mean, but its roughness shows the same scale."""
    rng = np.random.default_rng(1)
    stats, before = fed(correlated(5_000, correlation, rng))
    stats, changes = fed(50.0 + correlated(40, correlation, rng), stats, 5_000)
    assert (before, changes) == ([], [5_007])
    assert sd(stats) == pytest.approx(1.0, rel=0.3)


K = np.arange(20_000.0)
STEADY = {
    "normal": lambda rng: rng.normal(size=len(K)),
    "Cauchy": lambda rng: rng.standard_cauchy(len(K)),
    "log-normal": lambda rng: np.exp(1.5 * rng.normal(size=len(K))),
    "slow": lambda rng: correlated(len(K), 0.99, rng),
    "walk": lambda rng: rng.normal(size=len(K)).cumsum(),
    "counter": lambda rng: 1.7e12 + 1000.0 * K,
    "wave": lambda rng: np.sin(K / 700.0),
    "steps": lambda rng: np.repeat(rng.normal(size=len(K) // 100), 100),
    "rare": lambda rng: rng.random(len(K)) < 0.005,
    "bursts of one": lambda rng: correlated(len(K), 0.98, rng) > 2.5,
    "constant": lambda rng: np.full(len(K), 1e9 + 0.1),
}


@pytest.mark.parametrize("kind", STEADY)
def test_what_does_not_change_is_left_alone(kind):
    """Heavy tails, excursions, waves, counters and indicators are no changes, in 20,000 events."""
    stats, changes = fed(STEADY[kind](np.random.default_rng(2)))
    assert changes == []
    assert np.isfinite(stats).all()


def test_far_away_values_keep_their_deviations():
    """At an offset of 1e12 the deviations are those of the values without it."""
    values = np.random.default_rng(3).normal(size=5_000)
    near, (far, changes) = fed(values)[0], fed(1e12 + values)
    assert changes == []
    assert sd(far) == pytest.approx(sd(near), rel=1e-3)
    assert far[MEAN, 0] - 1e12 == pytest.approx(near[MEAN, 0], abs=1e-3)


@pytest.mark.parametrize("wild", [-1e150, 50.0])
def test_bursts_of_seven_and_outliers_in_turn_with_others_change_nothing(wild):
    """Fewer outliers than a run needs move the mean by 6 sd each at most."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=6_000)
    for burst in range(1, 8):
        values[burst * 700 : burst * 700 + burst] = wild * (1.0 + rng.random(burst) / 10)
    values[5_500:5_900:2] = wild
    assert fed(values)[1] == []
    assert sd(fed(values[:5_500])[0]) < 1.2
    burst = wild * (1.0 + rng.random(8) / 10)
    assert fed(burst, fed(values[:5_500])[0], 6_000)[1] == [6_007]


def test_equal_outliers_need_a_longer_run():
    """Eight ones of a rare indicator are no change of level, a constant that stays is."""
    stats, _ = fed(np.random.default_rng(5).normal(size=1_000))
    stats, changes = fed(np.full(200, 100.0), stats, 1_000)
    assert changes == [1_000 + CONSTANT - 1]
    assert stats[MEAN, 0] == 100.0
    assert sd(stats) == 0.0


def test_bursts_that_come_again_need_longer_runs():
    """After a change a run must be four times as long; half of that after 1,024, 2,048, .. more."""
    rng = np.random.default_rng(6)
    stats, changes = fed([*rng.normal(size=1_000), *rng.normal(1e3, size=8)])
    assert changes == [1_007]
    assert stats[PATIENCE, 0] == DOUBTS - 1.0
    assert fed(rng.normal(size=100), stats.copy(), 1_008)[1] == [1_007 + DOUBTS * ONE_SIDED]
    calm, changes = fed(rng.normal(1e3, size=1_100), stats, 1_008)
    assert (changes, calm[PATIENCE, 0]) == ([], 1.0)
    calm, changes = fed(rng.normal(1e3, size=1_000), calm, 3_000)
    assert (changes, calm[PATIENCE, 0]) == ([], 0.0)


def test_quiet_periods_that_come_again_are_no_changes():
    """A run of small differences is a change only if it is four times as long as any before."""
    rng = np.random.default_rng(7)
    days = np.where(np.arange(100_000) % 400 < 200, 1.0, 0.01) * rng.normal(size=100_000)
    changes = fed(days)[1]
    assert len(changes) <= 4
    assert max(changes) < 5_000


@pytest.mark.parametrize("power", [6, 9, 12, 20, 100])
@pytest.mark.parametrize("smooth", [True, False])
def test_growth_by_powers_of_ten_is_forgotten(power, smooth):
    """500 events after values that grew over 200 events, smoothly or tenfold at a time, came back,
    the scale is what it was."""
    exponents = np.arange(200) / 200 * power
    for seed in range(8):
        values = np.random.default_rng(seed).normal(size=1_700)
        before, _ = fed(values[:1_000])
        values[1_000:1_200] *= 10.0 ** (exponents if smooth else np.floor(exponents))
        stats, _ = fed(values)
        ratio = stats[SQUARES, 0] / stats[COUNT, 0] / (before[SQUARES, 0] / before[COUNT, 0])
        assert 0.5 < ratio < 2.0


@pytest.mark.parametrize("first", [0, 100])
@pytest.mark.parametrize(("at", "wild"), [(0, 1e6), (4, -1e150), (5, 1e6), (29, -1e150)])
def test_one_wild_value_among_the_first_does_no_harm(wild, at, first):
    """It counts as one within bounds, also in a column that comes late."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=YOUNG)
    values[at] = wild
    stats, _ = fed([ABSENT] * first + [1000.0 + value for value in values])
    assert stats[MEAN, 0] == pytest.approx(1000.0, abs=0.8)
    assert sd(stats) < 3.0
    stats, _ = fed(1000.0 + rng.normal(size=1_000), stats, first + YOUNG)
    assert sd(stats) == pytest.approx(1.0, rel=0.2)


def test_counts_beyond_single_precision():
    """Values are counted on beyond 2^24, where a single-precision count would stop."""
    stats = no_statistics(1)
    stats[[COUNT, SQUARES, ROUGHNESS], 0] = 2.0**24, 2.0**24, 2.0
    stats, changes = fed(np.random.default_rng(10).normal(size=3), stats, 2**24)
    assert (stats[COUNT, 0], changes) == (2**24 + 3, [])
    assert fed(1e3 + np.random.default_rng(11).normal(size=8), stats, 2**24 + 3)[1] == [2**24 + 10]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_number_is_looked_at(dtype):
    """At all places of vectorised loops; the largest numbers are finite."""
    for size in range(40):
        numbers = np.full(size, np.finfo(dtype).max, dtype)
        numbers[::2] *= -1
        assert n_broken(numbers) == 0
        for i in range(size):
            for value in (np.nan, np.inf, -np.inf):
                broken = numbers.copy()
                broken[i] = value
                assert n_broken(broken) == 1
    assert np.finfo(np.float64).max == LARGEST_FLOAT


def test_nothing_else_asks_whether_a_number_is_finite():
    """With reordered arithmetic np.isfinite may answer True for nan, as x - x is taken for 0. The
    use left is in a loop in which it answers right: see the tests of healing.
    """
    folder = Path(iln_stream.kernels.__file__).parent
    found = {file.name for file in folder.glob("*.py") if "np.isfinite(" in file.read_text("utf-8")}
    assert found == {"ridges.py"}


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_probabilities_that_are_not_finite(value):
    """They are told from sound ones."""
    scores, sharpness, counts = np.zeros((1, 2)), np.array([3.0, 6.0]), np.array([3, 4])
    for row, sound in ((None, True), (3, False), (5, False)):
        p = np.full((6, 2), 0.5)
        if row is not None:
            p[row, 0] = value
        assert fill(scores, sharpness, counts, p) == sound
