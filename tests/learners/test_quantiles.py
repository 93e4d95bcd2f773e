"""Quantiles around a regressor's prediction."""

import math
import random

import numpy as np
import pytest
from river import linear_model, preprocessing
from support.prequential import learned

from iln_stream import (
    ChangeOfTarget,
    InfiniteLayerRegressor,
    KeyedRegressor,
    QuantileRegressor,
    RecordInputs,
)
from iln_stream.learners import model_of, state_of
from iln_stream.loop.scores import pinball
from iln_stream.state import to_bytes

LEVELS = (0.1, 0.5, 0.9)


def fast(levels=LEVELS):
    return QuantileRegressor(InfiniteLayerRegressor("fast", seed=1), levels)


def events(n, seed=3):
    """Skewed noise, ten times as large where a is near 1."""
    draw = random.Random(seed)
    for _ in range(n):
        a, b = draw.random(), draw.random()
        yield {"a": a, "b": b}, 3 * b + (0.1 + a) * draw.expovariate(1.0)


def test_each_level_has_its_share_everywhere():
    """Labels exceed each quantile as often as it says, where noise is small and where it is large,
    and the losses are within a fifth of those of the true quantiles."""
    model, below, losses = fast(), {True: [], False: []}, []
    for t, (x, y) in enumerate(events(8000)):
        if t >= 2000:
            found = list(model.predict_quantiles_one(x).values())
            true = [3 * x["b"] - (0.1 + x["a"]) * math.log(1 - level) for level in LEVELS]
            below[x["a"] > 0.5].append([y <= q for q in found])
            pairs = zip(LEVELS, found, true, strict=True)
            losses.append([(pinball(k, y - q), pinball(k, y - best)) for k, q, best in pairs])
        model.learn_one(x, y)
    for where in below.values():
        assert np.mean(where, axis=0) == pytest.approx(LEVELS, abs=0.05)
    ours, best = np.mean(losses, axis=0).T
    assert (ours < 1.2 * best).all()


def test_the_prediction_is_the_regressors():
    """Quantiles change no prediction, and predicting them changes no state."""
    model, alone = fast(), InfiniteLayerRegressor("fast", seed=1)
    for x, y in events(300):
        before = to_bytes(state_of(model))
        assert model.predict_one(x) == alone.predict_one(x)
        model.predict_quantiles_one(x)
        assert model.predict_interval(x, 0.8) == alone.predict_interval(x, 0.8)
        assert to_bytes(state_of(model)) == before
        model.learn_one(x, y)
        alone.learn_one(x, y)


def test_a_pipeline_inside_has_the_interval_of_its_last_step():
    """So its quantiles begin from that interval, as those of a learner alone do."""
    inner, alone = RecordInputs() | InfiniteLayerRegressor("fast", seed=1), fast()
    model = learned(QuantileRegressor(inner, LEVELS), events(500))
    learned(alone, events(500))
    x = {"a": 0.5, "b": 0.5}
    assert model.predict_interval(x, 0.8) == alone.predict_interval(x, 0.8)
    assert model.predict_quantiles_one(x) == alone.predict_quantiles_one(x)
    assert model.explain_one(x) == alone.explain_one(x)
    assert not hasattr(model, "background")  # of inputs, which the pipeline does not take


def test_a_restored_learner_goes_on_bit_for_bit():
    """Also with events that wait for their labels, and inputs that are new."""
    model = learned(fast(), events(500))
    waiting = [(x, y, model.predict_token(x)[1]) for x, y in events(20, seed=8)]
    copy = model_of(state_of(model))
    for each in (model, copy):
        for x, y, token in waiting:
            each.learn_token({**x, "new": 1.0}, token, y)
        learned(each, events(50))
    assert to_bytes(state_of(copy)) == to_bytes(state_of(model))
    assert copy.predict_quantiles_one({"a": 1.0}) == model.predict_quantiles_one({"a": 1.0})


def test_late_labels_keep_the_shares():
    """Labels that come 50 events late are learned by what was predicted then."""
    model, waiting, below = fast(), [], []
    for t, (x, y) in enumerate(events(5000)):
        if t >= 2000:
            below.append([y <= q for q in model.predict_quantiles_one(x).values()])
        waiting.append((x, model.predict_token(x)[1], y))
        if t >= 50:
            model.learn_token(*waiting.pop(0))
    assert np.mean(below, axis=0) == pytest.approx(LEVELS, abs=0.03)


@pytest.mark.parametrize(
    "regressor",
    [
        preprocessing.StandardScaler() | linear_model.LinearRegression(),
        KeyedRegressor("key", InfiniteLayerRegressor("fast", seed=1)),
    ],
)
def test_any_regressor_has_quantiles(regressor):
    """Without intervals, too; and a key is no input by which they differ."""
    model, below = QuantileRegressor(regressor, LEVELS), []
    has_keys, draw = hasattr(regressor, "keys"), random.Random(4)
    for t, (x, y) in enumerate(events(4000)):
        if has_keys:
            key = draw.randrange(400)
            x, y = {**x, "key": f"k{key}"}, y + key % 7
        if t >= 2000:
            below.append([y <= q for q in model.predict_quantiles_one(x).values()])
        model.learn_one(x, y)
    assert np.mean(below, axis=0) == pytest.approx(LEVELS, abs=0.04)
    assert len(model._columns) == 2


def test_a_change_has_quantiles_of_the_later_value():
    """Those of a forecaster that learns changes are moved by the present value."""
    model = ChangeOfTarget(fast(), "load")
    for x, y in events(300):
        model.learn_one({"load": 100.0, **x}, 100.0 + y)
    low, *_, high = model.predict_quantiles_one({"load": 500.0, "a": 0.5, "b": 0.5}).values()
    assert 495 < low < high < 510


HOSTILE = {
    "constant": lambda t, y: 4.0,
    "huge": lambda t, y: 1e149 if t % 7 == 0 else y,
    "tiny": lambda t, y: 1e-300 * y,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_all_stays_finite(kind):
    """After labels of any size, quantiles are finite, of the labels' size again, and do not cross,
    as some of so many levels would."""
    model = fast(tuple(k / 20 for k in range(1, 20)))
    for t, (x, y) in enumerate(events(3000)):
        model.learn_one(x, HOSTILE[kind](t, y) if t < 3 or 500 < t < 600 else y, w=1e6)
        found = list(model.predict_quantiles_one(x).values())
        assert np.isfinite(found).all()
        assert found == sorted(found)
    assert not [each for each in (model._theta, model._rules) if not np.isfinite(each).all()]
    assert kind == "huge" or found[-1] < 20


@pytest.mark.parametrize("levels", [(), (0.9, 0.1), (0.5, 0.5), (0.0,), (1.5,), ("0.5",)])
def test_bad_levels_are_refused(levels):
    """They are probabilities, in ascending order."""
    with pytest.raises(ValueError, match="level"):
        fast(levels)


def test_a_token_of_another_learner_is_refused():
    """One that is too short, or too long for a regressor without tokens."""
    for model, n in ((fast(), 3), (QuantileRegressor(linear_model.LinearRegression()), 40)):
        with pytest.raises(ValueError, match="token"):
            model.learn_token({"a": 1.0}, np.zeros(n), 1.0)
