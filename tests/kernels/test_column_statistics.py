"""Changes of level and scale are followed at once; outliers and usual excursions are not."""

import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.columns import (
    ABSENT,
    CHANGED_AT,
    CONSTANT,
    COUNT,
    DOUBTS,
    HIGH,
    LOW,
    MEAN,
    ONE_SIDED,
    PATIENCE,
    ROUGHNESS,
    SQUARES,
    YOUNG,
    join,
    no_statistics,
)


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
    "up 50": (50.0, 1.0, 8),
    "down 50": (-50.0, 1.0, 8),
    "up a million": (1e6, 1.0, 8),
    "ten times": (0.0, 10.0, 120),
    "a hundred times": (0.0, 100.0, 30),
    "a hundredth": (0.0, 0.01, 40),
}


@pytest.mark.parametrize("n", [1_000, 10_000])
@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_is_followed_however_long_the_history(kind, n):
    """It is seen within some events, once, and 300 events later the statistics are the new ones."""
    level, scale, within = CHANGES[kind]
    rng = np.random.default_rng(0)
    stats, before = fed(rng.normal(size=n))
    after = level + scale * rng.normal(size=300)
    stats, changes = fed(after, stats, n)
    assert before == []
    if (n, kind) != (1_000, "ten times"):  # that is followed by the deviations themselves
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


def steady(kind, n, rng):
    """n values of a column that does not change."""
    k = np.arange(float(n))
    return {
        "normal": lambda: rng.normal(size=n),
        "uniform": lambda: rng.random(n),
        "Cauchy": lambda: rng.standard_cauchy(n),
        "log-normal": lambda: np.exp(1.5 * rng.normal(size=n)),
        "slow": lambda: correlated(n, 0.99, rng),
        "slower": lambda: correlated(n, 0.999, rng),
        "walk": lambda: rng.normal(size=n).cumsum(),
        "counter": lambda: 1.7e12 + 1000.0 * k,
        "wave": lambda: np.sin(k / 700.0),
        "fast wave": lambda: np.sin(k / 3.0),
        "steps": lambda: np.repeat(rng.normal(size=n // 100), 100),
        "rare": lambda: rng.random(n) < 0.005,
        "bursts of one": lambda: correlated(n, 0.98, rng) > 2.5,
        "constant": lambda: np.full(n, 1e9 + 0.1),
        "far away": lambda: 1e12 + rng.normal(size=n),
    }[kind]()


@pytest.mark.parametrize(
    "kind",
    ["normal", "uniform", "Cauchy", "log-normal", "slow", "slower", "walk", "counter", "wave",
     "fast wave", "steps", "rare", "bursts of one", "constant", "far away"],
)  # fmt: skip
def test_what_does_not_change_is_left_alone(kind):
    """Heavy tails, excursions, waves, counters and indicators are no changes, in 20,000 events."""
    assert fed(steady(kind, 20_000, np.random.default_rng(2)))[1] == []


def test_far_away_values_keep_their_deviations():
    """At an offset of 1e12 the deviations are those of the values without it."""
    values = np.random.default_rng(3).normal(size=5_000)
    near, far = fed(values)[0], fed(1e12 + values)[0]
    assert sd(far) == pytest.approx(sd(near), rel=1e-3)
    assert far[MEAN, 0] - 1e12 == pytest.approx(near[MEAN, 0], abs=1e-3)


@pytest.mark.parametrize("wild", [1e6, -1e150, 50.0])
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


@pytest.mark.parametrize("first", [0, 100])
@pytest.mark.parametrize("at", [0, 1, 4, 5, 20, 29])
@pytest.mark.parametrize("wild", [1e6, -1e150])
def test_one_wild_value_among_the_first_does_no_harm(wild, at, first):
    """It counts as one within bounds, also in a column that comes late."""
    rng = np.random.default_rng(8)
    values = rng.normal(size=YOUNG)
    values[at] = wild
    stats, _ = fed([ABSENT] * first + [1000.0 + value for value in values])
    bounds = plain.bounds([1000.0 + value for value in values])
    assert stats[MEAN, 0] == pytest.approx(1000.0, abs=0.8)
    assert sd(stats) < 3.0
    assert bounds[0] > 980.0
    assert bounds[1] < 1020.0
    stats, _ = fed(1000.0 + rng.normal(size=1_000), stats, first + YOUNG)
    assert sd(stats) == pytest.approx(1.0, rel=0.2)


def test_counts_beyond_single_precision():
    """Values are counted on beyond 2^24, where a single-precision count would stop."""
    stats = no_statistics(1)
    stats[[COUNT, SQUARES, ROUGHNESS], 0] = 2.0**24, 2.0**24, 2.0
    stats, changes = fed(np.random.default_rng(10).normal(size=3), stats, 2**24)
    assert (stats[COUNT, 0], changes) == (2**24 + 3, [])
    assert fed(1e3 + np.random.default_rng(11).normal(size=8), stats, 2**24 + 3)[1] == [2**24 + 10]


@pytest.mark.parametrize(
    "kind", ["stationary", "still", "constant", "collinear", "one-hot", "bursting", "drifting"]
)
def test_long_streams_stay_finite(kind):
    """After 60,000 events all statistics are finite, and a change is still followed."""
    rng, n = np.random.default_rng(12), 60_000
    values = rng.normal(size=n)
    if kind == "still":
        values[:] = values[0]
    elif kind == "constant":
        values[:] = 1.0
    elif kind == "collinear":
        values = 5.0 - 3.0 * np.arange(float(n))
    elif kind == "one-hot":
        values = np.eye(5)[rng.integers(0, 5, n), 0]
    elif kind == "bursting":
        values *= np.where(np.arange(n) % 1_000 < 20, 10.0, 1e-3)
    elif kind == "drifting":
        values += np.linspace(-3.0, 3.0, n)
    stats, _ = fed(values)
    assert np.isfinite(stats).all()
    stats, _ = fed(1e9 + 1e6 * rng.normal(size=3_000), stats, n)
    assert stats[MEAN, 0] == pytest.approx(1e9, rel=0.05)
