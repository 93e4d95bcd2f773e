"""`FreshTargets`: predictors that learn from targets that became known after the prediction."""

import numpy as np
import pytest

from iln_stream.learners.infinite_layer.engine import KNOWN, MOST_DELAY, FreshTargets
from iln_stream.state import from_bytes, to_bytes


def taught(fresh, n, delay, value, seed=1):
    """Let it learn a series of which each target is .9 times the last one plus noise."""
    rng = np.random.default_rng(seed)
    y = [0.0] * (delay + 2)
    for _ in range(n):
        y.append(0.9 * y[-1] + 0.1 * float(rng.normal()))
        known = 3.0 * np.array([y[-2], y[-3], 0.0])
        seen = 3.0 * np.array([y[-2 - delay], y[-3 - delay], 0.0])
        assert fresh.learn(value, y[-1], 1.0, seen, known, delay)


@pytest.mark.parametrize("delay", [1, 3])
def test_the_series_is_continued_to_the_event(delay):
    """With each event of delay the last known target says less."""
    fresh = FreshTargets(2, 1, squared=True)
    taught(fresh, 2000, delay, 1.0)
    expected = 0.9 ** (delay + 1)
    assert fresh.predict(1.0, np.array([3.0, 3.0, 0.0])) == pytest.approx(expected, abs=0.1)
    assert fresh.shares({"a": 1.0})["fresh-series"] > 0.5


def test_they_do_not_count_at_first_nor_where_they_are_worse():
    """Chance must not give them weight: without them the engine's prediction is as it was."""
    fresh, v = FreshTargets(2, 1, squared=False), np.array([3.0, 3.0, 0.0])
    taught(fresh, KNOWN - 1, 1, 1.0)
    assert fresh.predict(0.7, v) == 0.7
    perfect = FreshTargets(2, 1, squared=False)
    rng = np.random.default_rng(0)
    for t in rng.normal(size=300).tolist():
        perfect.learn(t, t, 1.0, v, v, 1)
    assert perfect.predict(0.7, v) == 0.7
    assert perfect.shares({"a": 1.0}) == {"a": 1.0, "fresh-linear": 0.0, "fresh-series": 0.0}


def test_late_labels_of_a_long_delay_are_left_out():
    """Beyond a few events of delay nothing is learned, so that nothing is paid for it."""
    fresh, v = FreshTargets(2, 1, squared=True), np.array([3.0, 3.0, 0.0])
    taught(fresh, 500, 1, 1.0)
    before = to_bytes(fresh.state() | {"delay": 0})
    assert fresh.predict(1.0, v) != 1.0
    fresh.learn(1.0, 0.5, 1.0, v, v, MOST_DELAY + 1)
    assert to_bytes(fresh.state() | {"delay": 0}) == before
    assert fresh.predict(1.0, v) == 1.0


def test_a_state_goes_on_bit_for_bit():
    """A snapshot must not change what is learned, also after a column came."""
    fresh = FreshTargets(2, 0, squared=True)
    fresh.widen(1)
    taught(fresh, 300, 2, 0.5)
    twin = FreshTargets(2, 1, squared=True)
    twin.restore(from_bytes(to_bytes(fresh.state())))
    for each in (fresh, twin):
        taught(each, 50, 2, 0.5, seed=2)
    assert to_bytes(fresh.state()) == to_bytes(twin.state())


def test_an_event_of_weight_zero_fits_nothing():
    """Late labels have weights, too."""
    fresh, v = FreshTargets(2, 1, squared=True), np.array([3.0, 3.0, 0.0])
    taught(fresh, 300, 1, 1.0)
    before = [bank.theta.copy() for bank in (fresh.linear, fresh.series)]
    assert fresh.learn(1.0, 5.0, 0.0, v, v, 1)
    for bank, theta in zip((fresh.linear, fresh.series), before, strict=True):
        assert np.array_equal(bank.theta, theta)
    assert fresh.learn(1.0, 5.0, 1.0, v, v, 1)
    assert not np.array_equal(fresh.series.theta, before[1])


@pytest.mark.parametrize("part", ["linear", "series"])
def test_broken_weights_are_reported_and_restarted(part):
    """A number that is not finite must not reach the predictions for ever."""
    fresh, v = FreshTargets(2, 1, squared=True), np.array([3.0, 3.0, 0.0])
    taught(fresh, 300, 1, 1.0)
    getattr(fresh, part).theta[:] = np.nan
    assert not fresh.learn(1.0, 0.5, 1.0, v, v, 1)
    assert fresh.heal()
    assert fresh.learn(1.0, 0.5, 1.0, v, v, 1)
    assert fresh.predict(0.7, v) == 0.7
