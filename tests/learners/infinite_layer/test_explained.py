"""Learners explain their predictions by the events that they remember."""

import math

import numpy as np
import pytest

from iln_stream.learners import background_of, state_of
from iln_stream.learners.explaining import explain_one
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.state import to_bytes

LEARNERS = {
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
    "fast": lambda: InfiniteLayerRegressor("fast", seed=1),
    "classes": lambda: InfiniteLayerClassifier(seed=1),
}


def event(t):
    """Inputs and a target: sky and b matter, c does not, d is often missing."""
    rng = np.random.default_rng(t)
    a, b, c, d = rng.normal(size=4).tolist()
    sky = ["clear", "dark", "red"][t % 3]
    x = {"a": a, "b": b, "c": 100 + c, f"sky={sky}": 1.0}
    if t % 4:
        x["d"] = 50 + d
    return x, a + 4 * b + 3 * (sky == "dark")


def learned(kind, n=300):
    model = LEARNERS[kind]()
    for t in range(n):
        x, y = event(t)
        model.learn_one(x, (y > 1) if kind == "classes" else y)
    return model


@pytest.mark.parametrize("kind", LEARNERS)
def test_explanations_add_up_and_change_nothing(kind):
    """Contributions sum to prediction minus baseline; the state stays the same to the last byte."""
    model = learned(kind)
    before = to_bytes(state_of(model))
    x, _ = event(1000)
    found, again = model.explain_one(x), model.explain_one(x)
    assert found == again
    assert to_bytes(state_of(model)) == before
    if kind == "classes":
        assert found.prediction == max(model.predict_proba_one(x).values())
    else:
        assert found.prediction == model.predict_one(x)
    assert set(found.contributions) == {"a", "b", "c", "d", "sky"}
    assert math.fsum(found.contributions.values()) == pytest.approx(
        found.prediction - found.baseline, abs=1e-9
    )


@pytest.mark.parametrize("kind", LEARNERS)
def test_explaining_between_prediction_and_label_leaves_no_trace(kind):
    """A learner that explains each event learns the same as one that never does."""
    asked, silent = LEARNERS[kind](), LEARNERS[kind]()
    for t in range(40):
        x, y = event(t)
        label = (y > 1) if kind == "classes" else y
        for model in (asked, silent):
            (model.predict_proba_one if kind == "classes" else model.predict_one)(x)
        asked.explain_one(x, asked.background(3) or None)
        asked.learn_one(x, label)
        silent.learn_one(x, label)
    assert to_bytes(state_of(asked)) == to_bytes(state_of(silent))


@pytest.mark.parametrize("kind", LEARNERS)
def test_the_relevant_inputs_contribute_most(kind):
    """What moves the target the most has the largest contribution."""
    model = learned(kind, 600)
    x = {"a": 0.0, "b": 2.0, "c": 100.0, "sky=clear": 1.0, "d": 50.0}
    label = True if kind == "classes" else None
    found = model.explain_one(x, **({"label": label} if label else {}))
    assert next(iter(found.largest(1))) == "b"
    assert found.contributions["b"] > 3 * abs(found.contributions["c"])


@pytest.mark.parametrize(("kind", "n"), [("accurate", 10), ("classes", 10), ("fast", 5000)])
def test_background_has_events_as_they_were(kind, n):
    """Rows come back as the dicts that were learned, wherever the memory's ring is by now."""
    model, events = LEARNERS[kind](), [event(t) for t in range(n)]
    for x, y in events:
        model.learn_one(x, (y > 1) if kind == "classes" else y)
    inputs = [x for x, _ in events]
    found = model.background(20)
    assert len(found) == min(n, 20)
    places = [inputs.index(x) for x in found]
    assert places == sorted(places)
    if n == 10:
        assert places == list(range(10))
    else:
        assert min(places) >= n - 4096
        assert max(places) - min(places) > 2000


def test_background_of_a_ring_that_has_turned():
    """A single ridge has the memory of the other profiles: 2,048 events."""
    model = RandomFeatureRidge(4, seed=1)
    for t in range(2500):
        model.learn_one({"t": float(t), "one": 1.0}, 1.0)
    found = [x["t"] for x in background_of(model, 500)]
    assert len(found) == 500
    assert found == sorted(found)
    assert 2500 - 2048 <= min(found) < 550
    assert max(found) > 2400
    assert explain_one(model, {"t": 0.0}, background_of(model, 5)).contributions.keys() == {
        "t", "one",
    }  # fmt: skip


@pytest.mark.parametrize("kind", LEARNERS)
def test_before_the_first_event_nothing_contributes(kind):
    """Without memory the prediction is compared with itself."""
    found = LEARNERS[kind]().explain_one({"a": 1.0})
    assert found.prediction == found.baseline == 0.0
    assert found.contributions == {"a": 0.0}


def test_bad_input_is_refused():
    """As of `predict_one`; and a background needs events."""
    model = learned("fast", 10)
    with pytest.raises(ValueError, match="must be finite"):
        model.explain_one({"a": math.nan})
    with pytest.raises(ValueError, match="background is empty"):
        model.explain_one({"a": 1.0}, [])
    with pytest.raises(ValueError, match="n = 0"):
        model.background(0)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_a_hashed_category_contributes(profile):
    """It is compared with none, as no hashed category is remembered; the columns that hold effects
    are no inputs of the background."""
    model = InfiniteLayerRegressor(profile, seed=1)
    rng = np.random.default_rng(0)
    for _ in range(800):
        shop, a = int(rng.integers(60)), float(rng.normal())
        model.learn_one({f"shop={shop}": 1.0, "a": a}, a + 3.0 * (shop % 2))
    assert all(isinstance(name, str) for x in model.background() for name in x)
    found = model.explain_one({"shop=7": 1.0, "a": 0.0})
    assert found.contributions["shop"] > 0.5
    assert sum(found.contributions.values()) == pytest.approx(found.prediction - found.baseline)


def test_a_label_that_no_event_had():
    """A misspelt class would have probability 0 and no contributions: it is refused."""
    model = InfiniteLayerClassifier(seed=1)
    for t in range(20):
        model.learn_one({"a": t % 5}, t % 5 > 2)
    with pytest.raises(ValueError, match=r"label = 'True': no event had it; known: False, True"):
        model.explain_one({"a": 1}, label="True")
    assert model.explain_one({"a": 1}, label=True).prediction > 0
