"""Learners of labels that are a few events late: what became known meanwhile helps to predict."""

from collections import deque

import numpy as np
import pandas as pd
import pytest

from iln_stream.errors import IlnWarning
from iln_stream.learners import InfiniteLayerRegressor, model_of, state_of
from iln_stream.learners.infinite_layer import engine
from iln_stream.learners.infinite_layer.engine import KNOWN, MOST_DELAY, FreshTargets
from iln_stream.state import from_bytes, to_bytes

PROFILES = ("accurate", "fast")


def series(n):
    """Yield a series that its last two values predict, and an input that comes late."""
    rng, last, before = np.random.default_rng(1), 0.0, 0.0
    for t in range(n):
        y = 1.2 * last - 0.3 * before + float(rng.normal())
        last, before = y, last
        yield {"a": float(rng.normal())} | ({"b": float(t % 5)} if t > n // 3 else {}), y


def learned(learner, events, delay):
    """Learn the events with labels so many events late; return the mean |error|."""
    waiting, lost = deque(), []
    for x, y in events:
        prediction, token = learner.predict_token(x)
        lost.append(abs(prediction - y))
        waiting.append((x, token, y))
        if len(waiting) > delay:
            learner.learn_token(*waiting.popleft())
    return float(np.mean(lost))


def test_targets_that_became_known_help_to_predict_a_series(monkeypatch):
    """What this is for: two events late, the next values follow from the newest known ones."""
    error = learned(InfiniteLayerRegressor("fast", seed=1), series(1500), 2)
    monkeypatch.setattr(engine, "MOST_DELAY", 0)
    assert error < 0.985 * learned(InfiniteLayerRegressor("fast", seed=1), series(1500), 2)


@pytest.mark.parametrize("profile", PROFILES)
def test_without_late_labels_there_is_nothing_of_it(profile):
    """States and predictions of streams without delay stay as they were."""
    learner = InfiniteLayerRegressor(profile, seed=1)
    learned(learner, series(30), 0)
    assert learner._engine.fresh is None
    assert "fresh" not in learner._engine.state()


@pytest.mark.parametrize("profile", PROFILES)
def test_a_restored_learner_goes_on_bit_for_bit(profile):
    """A snapshot changes nothing, whether labels come late or at once afterwards."""
    events = list(series(260))
    learner = InfiniteLayerRegressor(profile, seed=1)
    learned(learner, events[:200], 2)
    twin = model_of(from_bytes(to_bytes(state_of(learner))))
    for x, y in events[200:230]:
        assert learner.predict_one(x) == twin.predict_one(x)
        for each in (learner, twin):
            each.learn_one(x, y)
    assert learned(learner, events[230:], 3) == learned(twin, events[230:], 3)
    assert to_bytes(state_of(learner)) == to_bytes(state_of(twin))


def test_tables_are_predicted_and_learned_as_their_rows():
    """The compiled loops of profile fast know nothing of it, and must not be used."""
    learner, twin = (InfiniteLayerRegressor("fast", seed=1) for _ in range(2))
    for each in (learner, twin):
        learned(each, series(400), 1)
    assert learner.expert_weights["fresh-series"] > 0.0
    assert sum(learner.expert_weights.values()) == pytest.approx(1.0)
    X = pd.DataFrame({"a": [0.1, -0.4, 1.0], "b": [1.0, 0.0, 3.0]})
    y = pd.Series([1.0, 0.5, 0.2])
    rows = X.to_dict("records")
    assert learner.predict_many(X).tolist() == [learner.predict_one(x) for x in rows]
    learner.learn_many(X, y)
    for x, target in zip(rows, y, strict=True):
        twin.learn_one(x, target)
    assert to_bytes(state_of(learner)) == to_bytes(state_of(twin))


@pytest.mark.parametrize(("profile", "part"), [("accurate", "linear"), ("fast", "series")])
def test_broken_weights_are_reinitialised_and_counted(profile, part):
    """A fault is told of, and predictions stay finite."""
    learner = InfiniteLayerRegressor(profile, seed=1)
    learned(learner, series(200), 1)
    getattr(learner._engine.fresh, part).theta[:] = np.nan
    with pytest.warns(IlnWarning, match="fresh-targets"):
        error = learned(learner, series(20), 1)
    assert np.isfinite(error)
    assert learner.resets["fresh-targets"] == 1


def taught_fresh(fresh, n, delay, value, seed=1):
    """Let it learn a series of which each target is .9 times the last one plus noise."""
    rng = np.random.default_rng(seed)
    y = [0.0] * (delay + 2)
    for _ in range(n):
        y.append(0.9 * y[-1] + 0.1 * float(rng.normal()))
        known = 3.0 * np.array([y[-2], y[-3], 0.0])
        seen = 3.0 * np.array([y[-2 - delay], y[-3 - delay], 0.0])
        assert fresh.learn(value, y[-1], 1.0, seen, known, delay)


def test_they_do_not_count_at_first_nor_where_they_are_worse():
    """Chance must not give them weight: without them the engine's prediction is as it was."""
    fresh, v = FreshTargets(2, 1, squared=False), np.array([3.0, 3.0, 0.0])
    taught_fresh(fresh, KNOWN - 1, 1, 1.0)
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
    taught_fresh(fresh, 500, 1, 1.0)
    before = to_bytes(fresh.state() | {"delay": 0})
    assert fresh.predict(1.0, v) != 1.0
    fresh.learn(1.0, 0.5, 1.0, v, v, MOST_DELAY + 1)
    assert to_bytes(fresh.state() | {"delay": 0}) == before
    assert fresh.predict(1.0, v) == 1.0
