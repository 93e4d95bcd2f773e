"""Labels that come late are learned with what was computed when the event was predicted."""

import copy
import math
from collections import deque

import numpy as np
import pytest

from iln_stream.learners import model_of, state_of
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.state import from_bytes, not_finite, to_bytes

MAKE = {
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
    "fast": lambda: InfiniteLayerRegressor("fast", seed=1),
    "ridge": lambda: RandomFeatureRidge(32, seed=1),
    "classifier": lambda: InfiniteLayerClassifier(seed=1),
    "fast classifier": lambda: InfiniteLayerClassifier(seed=1, profile="fast"),
}
REGRESSORS = ("accurate", "fast")

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


def stream(name, n, seed, categories=60):
    """Events with columns that come late, missing inputs, outliers, and hashed categories."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(size=categories + 1)
    level = 0.0
    for t in range(n):
        a, b, c = rng.normal(size=3).tolist()
        level = 0.9 * level + 0.3 * float(rng.normal())
        x = {"a": a, "b": b} | ({"late": c} if t > n // 2 else {})
        if t % 7 == 0:
            del x["b"]
        k = int(rng.integers(categories)) if categories else 0
        if categories and name != "ridge":
            x[f"shop=s{k}"] = 1.0
        y = a * b + level + float(effects[k]) + (1e6 if t == 40 else 0.0)
        if "classifier" in name:
            y = ("no", "yes", "new")[(y > 0.0) + (y > 1.5 and t > n // 3)]
        yield x, y


def predicted(learner, x):
    """The prediction of the learner's task."""
    if isinstance(learner, InfiniteLayerClassifier):
        return learner.predict_proba_one(x)
    return learner.predict_one(x)


def learned_late(learner, events, delay, shuffle=None):
    """Predictions, and their errors by event, where labels come so many events later."""
    waiting, found = deque(), []
    for x, y in events:
        prediction, token = learner.predict_token(x)
        found.append(prediction)
        waiting.append((x, token, y))
        if shuffle is not None:
            shuffle.shuffle(waiting)
        if len(waiting) > delay:
            learner.learn_token(*waiting.popleft())
    return found


@pytest.mark.parametrize("name", MAKE)
def test_a_label_that_comes_at_once_is_learned_as_by_learn_one(name):
    """Predictions and states are the same bits, with new columns, categories and classes."""
    one, other = MAKE[name](), MAKE[name]()
    for x, y in stream(name, 150, 0):
        prediction, token = other.predict_token(x)
        assert prediction == predicted(one, x)
        assert (token.dtype, token.ndim) == (np.float64, 1)
        one.learn_one(x, y)
        other.learn_token(x, token, y)
    assert to_bytes(state_of(one)) == to_bytes(state_of(other))


@pytest.mark.parametrize("name", MAKE)
def test_a_restored_learner_learns_the_tokens_of_its_past(name):
    """A snapshot between predictions and labels changes nothing, whatever their order."""
    events = list(stream(name, 200, 5))
    learner = MAKE[name]()
    learned_late(learner, events[:150], 20, np.random.default_rng(0))
    tokens = [learner.predict_token(x)[1] for x, _ in events[150:]]
    twin = model_of(from_bytes(to_bytes(state_of(learner))))
    for (x, y), token in zip(events[150:], tokens, strict=True):
        for each in (learner, twin):
            each.learn_token(x, token, y)
    assert to_bytes(state_of(learner)) == to_bytes(state_of(twin))
    x = events[0][0]
    assert predicted(learner, x) == predicted(twin, x)


@pytest.mark.parametrize("name", ["accurate", "fast"])
def test_last_targets_are_those_of_the_prediction_and_then_of_the_last_label(name):
    """The memory keeps an event with the targets known when it was predicted."""
    learner, tokens = MAKE[name](), []
    for t in range(40):
        tokens.append(learner.predict_token({"a": t % 3, "b": t % 5})[1])
        if t >= 5:
            learner.learn_token({"a": t % 3, "b": t % 5}, tokens[t - 5], float(t - 5))
    engine = learner._engine
    if name == "accurate":
        lags, stored, known = engine.memory.lags, engine.memory.y, engine.lags
    else:
        lags, stored, known = engine.memory[:, :2], engine.memory[:, -1], engine.record[5:7]
    assert stored[34] == 34.0
    assert lags[34].tolist() == [28.0, 27.0]
    assert known.tolist() == [34.0, 33.0]


def autoregressive(n):
    """A series that its last value predicts, without other inputs, so that a delay matters."""
    rng, y = np.random.default_rng(1), 0.0
    for t in range(n):
        y = 0.95 * y + float(rng.normal())
        yield {"a": float(t % 7), "b": float(rng.normal())}, y


@pytest.mark.parametrize("name", ["fast", pytest.param("accurate", marks=pytest.mark.thorough)])
def test_intervals_keep_their_coverage(name):
    """What is published is scored: without tokens, the last targets make errors look small."""
    shares = {}
    for tokens in (True, False):
        learner, waiting, inside = MAKE[name](), deque(), 0
        for t, (x, y) in enumerate(autoregressive(800)):
            token = learner.predict_token(x)[1]
            low, high = learner.predict_interval(x, 0.9)
            inside += t >= 300 and low <= y <= high
            waiting.append((x, token, y))
            if len(waiting) > 20:
                x, token, y = waiting.popleft()
                if tokens:
                    learner.learn_token(x, token, y)
                else:
                    learner.learn_one(x, y)
        shares[tokens] = inside / 500
    assert shares[False] < 0.5
    assert shares[True] > 0.8


@pytest.mark.parametrize("name", MAKE)
def test_tokens_of_others_are_refused(name):
    """Nothing is learned, and the message says what to do."""
    learner = MAKE[name]()
    events = list(stream(name, 60, 2))
    learned_late(learner, events, 0)
    x, y = events[-1]
    token = learner.predict_token(x)[1]
    others = [MAKE[each]().predict_token(x)[1] for each in MAKE if each != name]
    before = to_bytes(state_of(learner))
    for bad in (*others, token[:-1], np.append(token, 0.0), token[:0], token[None], "no", None):
        with pytest.raises(ValueError, match="token"):
            learner.learn_token(x, bad, y)
    for number in (math.nan, -1.0, 0.5, 1e300):
        bad = token.copy()
        bad[1] = number
        with pytest.raises(ValueError, match="damaged"):
            learner.learn_token(x, bad, y)
    assert to_bytes(state_of(learner)) == before


@pytest.mark.parametrize("number", [math.nan, -1e308, 7.0])
@pytest.mark.parametrize("name", MAKE)
def test_broken_numbers_in_a_token_break_nothing(name, number):
    """They count as unknown, or as an odd prediction: the state stays finite and predicts."""
    learner = MAKE[name]()
    events = list(stream(name, 120, 4))
    learned_late(learner, events[:100], 3)
    size = len(learner.predict_token(events[0][0])[1])
    first = 3 if "classifier" in name else 2  # the numbers before tell what the token is
    for i in range(first, size):
        x, y = events[100 + i % 20]
        token = learner.predict_token(x)[1]
        learner.learn_one(*events[i])
        if i < len(token):
            token[i] = number
        learner.learn_token(x, token, y)
    assert not not_finite(copy.deepcopy(learner)._engine.state())
    prediction = predicted(learner, events[0][0])
    values = prediction.values() if isinstance(prediction, dict) else [prediction]
    assert all(map(math.isfinite, values))
    assert "classifier" in name or abs(prediction) < 1e7
