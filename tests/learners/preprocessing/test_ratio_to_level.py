"""RatioToLevel: one regressor for series of different levels."""

import random
from math import asinh, cos, inf, isnan, log, nan, pi, sin, sinh, sqrt

import numpy as np
import pytest
from river import dummy, linear_model, stats
from support.prequential import learned

from iln_stream.learners import (
    ChangeOfTarget,
    InfiniteLayerRegressor,
    RatioToLevel,
    model_of,
    state_of,
)


def fast():
    return InfiniteLayerRegressor("fast", seed=1)


def events(n, factor=1.0):
    """Return events of two series whose levels differ by 1,000, in multiples of a factor."""
    for t in range(n):
        level = factor * (10_000.0 if t % 2 else 10.0)
        now = level * (1.0 + 0.3 * (t // 2 % 5))
        x = {"y": now, "y.lag_1": 1.1 * level, "y.level": level, "hour": t % 24.0, ("t", 1): 0.5}
        yield x, 2.0 * level - now


def answers(model, n, factor=1.0):
    found = []
    for x, y in events(n, factor):
        y_pred, token = model.predict_token(x)
        found.append((y_pred / factor, *(end / factor for end in model.predict_interval(x, 0.8))))
        model.learn_token(x, token, y)
    return found


def test_series_of_different_levels():
    """Both are learned to within 5 % of their level; the same learner of values is not as good for
    the lower one."""
    ours, plain = RatioToLevel(fast(), "y", "y.level"), fast()
    errors = {"ours": 0.0, "plain": 0.0}
    for t, (x, y) in enumerate(events(400)):
        for name, model in (("ours", ours), ("plain", plain)):
            if t >= 300 and t % 2 == 0:
                errors[name] += abs(model.predict_one(x) - y) / 10.0 / 50
            model.learn_one(x, y)
    assert errors["ours"] < 0.05
    assert errors["ours"] < 0.5 * errors["plain"]


@pytest.mark.parametrize("wrap", [fast, lambda: ChangeOfTarget(fast(), "y")])
def test_prediction_interval_and_token_are_of_the_value(wrap):
    """The regressor sees asinh of x and y divided by the level: its own predictions and intervals
    are taken back, also where it learns a change; and with its token. Predictions move toward past
    values, and intervals contain them."""
    model, inner = RatioToLevel(wrap(), "y", "y.level"), wrap()
    for (x, y), (y_pred, low, high) in zip(events(60), answers(model, 60), strict=True):
        level = x["y.level"]
        seen = {name: asinh(x[name] / level) for name in ("y", "y.lag_1")}
        seen = x | seen | {"y.level": log(level)}
        value, token = inner.predict_token(seen)
        shift = asinh(y_pred / level) - value
        ends = [sinh(end) * level for end in inner.predict_interval(seen, 0.8)]
        assert [low, high] == pytest.approx([min(ends[0], y_pred), max(ends[1], y_pred)])
        inner.learn_token(seen, token, asinh(y / level))
    assert 1e-9 < abs(shift) < 0.5


@pytest.mark.parametrize("late", [True, False])
def test_last_week_counts_as_much_as_absolute_errors_would_have_it(late):
    """A regressor's mean is moved to the past value that is right but for outliers, by labels that
    come late, too; a past value that is noise does not move it, nor does one that is missing."""
    model = RatioToLevel(dummy.StatisticRegressor(stats.Mean()), "y", "y.level")
    rng, waiting, errors = np.random.default_rng(1), [], []
    for t in range(1500):
        week = float(rng.uniform(50.0, 150.0))
        x = {"y": float(rng.uniform(50.0, 150.0)), "y.level": 100.0, "y.lag_144": week}
        y = week if t % 7 else 0.0
        found, token = model.predict_token(x)
        waiting.append((x, token, y))
        if t % 7:
            errors.append(abs(found - y))
        if len(waiting) == 24:
            x, token, y = waiting.pop(0)
            model.learn_token(x, token, y) if late else model.learn_one(x, y)
    assert sum(errors[-500:]) / 500 < 6.0
    assert sum(errors[:20]) / 20 > 20.0
    assert 50.0 < model.predict_one({"y.level": 100.0}) < 120.0


def test_zeros_and_negative_values():
    """While the level is 0, 0 is predicted and nothing is learned; a first value far above a tiny
    level does no harm, and negative values have a level like others."""
    model = RatioToLevel(dummy.StatisticRegressor(stats.Mean()), "y", "y.level")
    model.learn_one({"y": 0.0, "y.level": 0.0}, 5.0)
    assert model.predict_one({"y": 0.0, "y.level": 0.0}) == 0.0
    model.learn_one({"y": -4.0, "y.level": 4.0}, -8.0)
    assert model.predict_one({"y": -3.0, "y.level": 3.0}) == pytest.approx(-6.0, rel=0.05)
    model.learn_one({"y": 1e-9, "y.level": 1e-9}, 1e9)
    mean = sinh((asinh(-2.0) + asinh(1000.0)) / 2.0)
    assert model.predict_one({"y": 1.0, "y.level": 1.0}) == pytest.approx(mean, rel=0.1)
    assert model.predict_one({"y": -1.0}) == pytest.approx(mean, rel=0.1)  # the present size


@pytest.mark.parametrize(("own", "expected"), [(900.0, 2000.0), (-900.0, -2000.0), (inf, inf)])
def test_a_regressor_far_off_is_at_most_1000_levels_away(own, expected):
    """sinh makes no overflow of it; what is not finite remains so, that the loop can see it."""
    model = RatioToLevel(dummy.StatisticRegressor(stats.Mean()), "y", "y.level")
    model.regressor.predict_one = lambda x: own
    assert model.predict_one({"y": 2.0, "y.level": 2.0}) == pytest.approx(expected)
    model.regressor.predict_one = lambda x: nan
    assert isnan(model.predict_one({"y": 2.0, "y.level": 2.0}))


@pytest.mark.parametrize("wrap", [fast, lambda: ChangeOfTarget(fast(), "y")])
def test_explanations_are_in_the_unit_of_the_series(wrap):
    """They sum to the prediction, with any background, and inputs keep their names."""
    model = learned(RatioToLevel(wrap(), "y", "y.level"), events(100))
    seen = [x for x, _ in events(20)]
    for background in (None, seen):
        found = model.explain_one(seen[1], background)
        assert found.prediction == pytest.approx(model.predict_one(seen[1]))
        total = found.baseline + sum(found.contributions.values())
        assert total == pytest.approx(found.prediction)
        assert "y.lag_1" in found.contributions


def test_a_restored_model_goes_on():
    """Bit for bit; also with a regressor that makes no tokens, where another's token is refused."""
    model = RatioToLevel(fast(), "y", "y.level")
    answers(model, 50)
    assert answers(model_of(state_of(model)), 30) == answers(model, 30)
    plain = RatioToLevel(linear_model.LinearRegression(), "y", "y.level")
    with pytest.raises(ValueError, match="the token is that of another learner"):
        plain.learn_token({"y": 1.0}, [1.0, 2.0, 3.0], 3.0)


def test_intervals_contain_their_share():
    """Past values move predictions; intervals still contain 90 % of what eight shops sell, within
    four standard errors of 4,000 independent events. Ends that moved, too, contained 87 %."""
    draw, hits = random.Random(1), []
    model = RatioToLevel(fast(), "sold", "sold.level")
    sold = [[0.0] * 200 for _ in range(8)]
    for hour in range(1_000):
        day, week = hour * pi / 12, hour * pi / 84
        at = {"sin": sin(day), "cos": cos(day), "week.sin": sin(week), "week.cos": cos(week)}
        is_open = max(0.0, sin(pi * ((hour + 1) % 24 - 7) / 13)) * (7 <= (hour + 1) % 24 <= 20)
        for shop, past in enumerate(sold):
            x = {"sold": past[-1], "sold.lag_24": past[-25], "sold.lag_168": past[-169], **at}
            x["sold.level"] = sum(past[-168:]) / 168
            usual = 400.0 / (shop + 1) * is_open
            y = max(0.0, usual * draw.gauss(1.0, 0.05 + 0.05 * shop))
            low, high = model.predict_interval(x, 0.9)
            assert low <= model.predict_one(x) <= high
            hits.append(low <= y <= high)
            model.learn_one(x, y)
            past.append(y)
    assert sum(hits[4_000:]) / 4_000 == pytest.approx(0.9, abs=4 * sqrt(0.09 / 4_000))
