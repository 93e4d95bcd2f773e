import math

import numpy as np
import pandas as pd
import pytest
from support.prequential import learned

from iln_stream.learners import state_of
from iln_stream.learners.infinite_layer import classifier
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.loop import Classification
from iln_stream.state import to_bytes


def quadrants(n, seed, classes=("even", "odd")):
    """Two inputs, and a class for the sign of their product."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    xs = [{"a": a, "b": b} for a, b in X.tolist()]
    return xs, [classes[int(x["a"] * x["b"] > 0)] for x in xs]


@pytest.mark.parametrize("profile", ["accurate", "fast"])
def test_learns_what_a_linear_model_cannot(profile):
    """The sign of a product is predicted correctly in more than nine of ten late events."""
    model = InfiniteLayerClassifier(seed=1, profile=profile)
    xs, ys = quadrants(1_000, 0)
    right = []
    for x, y in zip(xs, ys, strict=True):
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    assert np.mean(right[500:]) > 0.9


def test_probabilities_are_calibrated():
    """Noisy labels: the first class's mean probability is its share, to 5 standard errors."""
    model = InfiniteLayerClassifier(seed=1)
    rng = np.random.default_rng(3)
    xs, ys = quadrants(1_500, 0, classes=(0, 1))
    predicted, observed = [], []
    for x, y in zip(xs, ys, strict=True):
        y = 1 - y if rng.random() < 0.2 else y
        p = model.predict_proba_one(x)
        assert len(p) < 2 or sum(p.values()) == pytest.approx(1.0)
        predicted.append(p.get(1, 0.5))
        observed.append(y)
        model.learn_one(x, y)
    predicted, observed = np.array(predicted[500:]), np.array(observed[500:])
    sure = predicted > 0.65
    assert sure.sum() > 250
    deviation = 5.0 * math.sqrt(0.25 / sure.sum())
    assert observed[sure].mean() == pytest.approx(predicted[sure].mean(), abs=deviation)


def test_new_classes_may_appear():
    """A class first seen late is known from then on, and no other class's score has changed."""
    model = learned(InfiniteLayerClassifier(seed=1), zip(*quadrants(100, 0), strict=True))
    assert set(model.predict_proba_one({"a": 1.0, "b": 1.0})) == {"even", "odd"}
    for _ in range(30):
        model.learn_one({"a": 9.0, "b": 0.0}, "far")
    p = model.predict_proba_one({"a": 9.0, "b": 0.0})
    assert max(p, key=p.get) == "far"
    assert sum(p.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("n", [129, 132])
def test_a_class_may_appear_amid_a_redraw(n):
    """A candidate in training when a class appears is restarted, and knows the class in the end."""
    xs, ys = quadrants(n, 0)
    model = learned(InfiniteLayerClassifier(seed=1), zip(xs, ys, strict=True))
    for x, y in zip(xs[:30], ys[:30], strict=True):
        model.learn_one({"a": 9.0, "b": 0.0}, "far")
        model.learn_one(x, y)
    p = model.predict_proba_one({"a": 9.0, "b": 0.0})
    assert max(p, key=p.get) == "far"


def test_the_first_event_of_a_class_scores_no_expert():
    """The first event of a class leaves the experts' weights as they were; the second does not."""
    model = learned(InfiniteLayerClassifier(seed=1), zip(*quadrants(100, 0), strict=True))
    before = model.expert_weights
    model.learn_one({"a": 9.0, "b": 0.0}, "far")
    assert model.expert_weights == before
    model.learn_one({"a": 9.0, "b": 0.0}, "far")
    assert model.expert_weights != before


def test_weights_and_relevance():
    """Weights and shares sum to one; a new learner has none."""
    model = InfiniteLayerClassifier(seed=1)
    assert (model.predict_proba_one({"a": 1.0}), model.relevance, model.n_learned) == ({}, {}, 0)
    for x, y in zip(*quadrants(100, 0), strict=True):
        model.learn_one({**x, "noise": 0.0}, y)
    assert sum(model.expert_weights.values()) == pytest.approx(1.0)
    assert sum(model.relevance.values()) == pytest.approx(1.0)
    assert (model.n_learned, model.n_overflowed) == (100, 0)


def test_bad_input_is_refused_and_leaves_no_trace():
    """An input that is not finite is rejected by name, and its class is not learned."""
    model = InfiniteLayerClassifier(seed=1)
    model.learn_one({"a": 1.0}, "known")
    with pytest.raises(ValueError, match=r"x\['a'\]"):
        model.learn_one({"a": math.nan}, "new")
    assert model.predict_proba_one({"a": 1.0}) == {"known": pytest.approx(2 / 3)}
    with pytest.raises(ValueError, match="max_columns = 0"):
        InfiniteLayerClassifier(max_columns=0)
    with pytest.raises(ValueError, match="seed=1"):  # release 0.2.0's first argument
        InfiniteLayerClassifier(1)  # type: ignore[arg-type]


def test_a_numpy_label_is_the_python_value():
    """A label from an array is the class of the value, so that a state can store it."""
    model = InfiniteLayerClassifier(seed=1)
    for a, y in enumerate(np.array([3, 5, 3])):
        model.learn_one({"a": float(a)}, y)
    model.learn_one({"a": 1.0}, 5)
    assert {(type(y), y) for y in model.predict_proba_one({"a": 1.0})} == {(int, 3), (int, 5)}
    assert InfiniteLayerClassifier.from_state(model.state()).n_learned == 4


@pytest.mark.parametrize("y", [math.nan, b"bytes", ("a", b"bytes"), np.datetime64("2026-01-01")])
def test_a_label_that_no_state_can_store_is_refused(y):
    """When it is learned, rather than when a snapshot is due; and it leaves no trace."""
    model = InfiniteLayerClassifier(seed=1)
    with pytest.raises(ValueError, match=r"^y = .* is of type \w+: a class must be a str, int"):
        model.learn_one({"a": 1.0}, y)
    assert (model.n_learned, model.predict_proba_one({"a": 1.0})) == (0, {})


def test_equal_labels_are_one_class():
    """True and 1 are equal in Python, and so one class, named by the first of them."""
    model = InfiniteLayerClassifier(seed=1)
    for y in (True, 1, 1.0):
        model.learn_one({"a": 1.0}, y)
    assert [str(y) for y in model.predict_proba_one({"a": 1.0})] == ["True"]


@pytest.mark.parametrize(
    ("level", "scale"), [(50.0, 1.0), pytest.param(0.0, 0.01, marks=pytest.mark.thorough)]
)
def test_a_change_of_the_inputs_is_followed(level, scale):
    """300 events after their level or scale changed, classes are told apart as before."""
    model, right = InfiniteLayerClassifier(seed=1), []
    for i, (x, y) in enumerate(zip(*quadrants(1_600, 4), strict=True)):
        seen = {name: level + scale * value for name, value in x.items()} if i >= 1_000 else x
        right.append(model.predict_one(seen) == y)
        model.learn_one(seen, y)
    assert np.mean(right[1_300:]) > np.mean(right[500:1_000]) - 0.03


HOSTILE = {
    "wild": lambda t, r: 10.0 ** r.integers(-300, 300) if t % 7 == 0 else r.normal(),
    "far": lambda t, r: 1e12 + r.normal(),
    "clock": lambda t, r: 1.7e9 + 0.1 * t,
    "constant": lambda t, r: 3.0,
    "cauchy": lambda t, r: float(r.standard_cauchy()),
    "bursts": lambda t, r: r.normal() if t % 400 < 20 else 0.0,
}


@pytest.mark.filterwarnings("error")
def test_hostile_inputs_do_no_harm():
    """Beside them, and with missing values, a product of two inputs is learned; all is finite. So
    it is when they are gone for good."""
    model, rng, right = InfiniteLayerClassifier(seed=1), np.random.default_rng(0), []
    for t in range(3_000):
        hostile = HOSTILE if t < 2_500 else {}
        x = {name: float(value(t, rng)) for name, value in hostile.items() if rng.random() < 0.9}
        x |= {"a": rng.normal(), "b": rng.normal()}
        y = bool(x["a"] * x["b"] > 0)
        p = model.predict_proba_one(x)
        assert all(0.0 <= value <= 1.0 for value in p.values())
        right.append(p.get(y, 0.0) > 0.5)
        model.learn_one(x, y)
    assert np.mean(right[2_000:2_500]) > 0.85
    assert np.mean(right[2_600:]) > 0.85
    assert model.n_reset == 0


def test_one_class_only():
    """It is as sure as 301 of 302 events, with hashed categories too, so that the event with
    another class costs log 302; a second class is learned when it comes."""
    model = InfiniteLayerClassifier(seed=1)
    for t in range(300):
        model.learn_one({"a": float(t % 5)}, "only")
    for x in ({"a": 2.0}, {"a": 2.0, "id=new": 1.0}):
        found = model.predict_proba_one(x)
        assert found == {"only": pytest.approx(301 / 302)}
        assert Classification().loss(found, "second") == pytest.approx(math.log(302))
    for a in np.random.default_rng(0).integers(5, size=400).tolist():
        model.learn_one({"a": float(a)}, "second" if a > 2 else "only")
    assert model.predict_one({"a": 4.0}) == "second"
    assert model.predict_one({"a": 0.0}) == "only"


@pytest.mark.parametrize("n_classes", [pytest.param(2, marks=pytest.mark.thorough), 3])
def test_classes_that_last_are_known_without_inputs(n_classes):
    """Of classes that come in long runs, the next event's is known without any input."""
    rng, label, hits = np.random.default_rng(0), 0, []
    model = InfiniteLayerClassifier(seed=1)
    for _ in range(2_000):
        label = (label + 1) % n_classes if rng.random() < 0.05 else label
        x = {"a": float(rng.normal())}
        hits.append(model.predict_proba_one(x).get(label, 0.0))
        model.learn_one(x, label)
    assert np.mean(hits[1_500:]) > 0.85


def test_a_hundred_classes():
    """They are told apart by two inputs, and memory grows by less than 100 kB for each."""
    rng, model = np.random.default_rng(0), InfiniteLayerClassifier(seed=1)
    labels = np.concatenate([np.arange(100), rng.integers(100, size=1_400)]).tolist()
    right = []
    for label in labels:
        x = {"a": label % 10 + 0.1 * rng.normal(), "b": label // 10 + 0.1 * rng.normal()}
        p = model.predict_proba_one(x)
        right.append(max(p, key=p.get, default=None) == label)
        model.learn_one(x, label)
    assert sum(p.values()) == pytest.approx(1.0)
    assert np.mean(right[-400:]) > 0.5
    few, model = InfiniteLayerClassifier(seed=1), InfiniteLayerClassifier(seed=1)
    for label in labels[:100]:
        few.learn_one({"a": 1.0, "b": 2.0}, label % 3)
        model.learn_one({"a": 1.0, "b": 2.0}, label)
    assert len(to_bytes(model.state())) - len(to_bytes(few.state())) < 97 * 100_000


@pytest.mark.thorough
def test_rare_classes_are_ranked():
    """Of 2 % ones in a bump, 95 % of the pairs of a one and a zero are ranked rightly."""
    rng, model = np.random.default_rng(1), InfiniteLayerClassifier(seed=1)
    scores, labels = [], []
    for a, b in rng.uniform(-1, 1, size=(3_000, 2)).tolist():
        y = bool(rng.random() < 0.8 * math.exp(-((a - 0.3) ** 2 + (b + 0.2) ** 2) / 0.03))
        scores.append(model.predict_proba_one({"a": a, "b": b}).get(True, 0.0))
        labels.append(y)
        model.learn_one({"a": a, "b": b}, y)
    scores, labels = np.array(scores[1_000:]), np.array(labels[1_000:])
    assert 20 < labels.sum() < 70
    assert (scores[labels][:, None] > scores[~labels]).mean() > 0.95


def test_a_class_beyond_the_bound(monkeypatch):
    """A new class beyond the bound is refused, however it comes, and changes nothing; the others
    are learned on."""
    monkeypatch.setattr(classifier, "MOST_CLASSES", 3)
    model = InfiniteLayerClassifier(seed=1)
    for label in ("a", "b", "c", "a"):
        model.learn_one({"x": 1.0}, label)
    token = model.predict_token({"x": 1.0})[1]
    before = to_bytes(state_of(model))
    for learn in (
        lambda: model.learn_one({"new": 1.0}, "d"),
        lambda: model.learn_token({"x": 1.0}, token, "d"),
        lambda: model.learn_many(pd.DataFrame({"x": [1.0, 2.0]}), ["a", "d"]),
    ):
        with pytest.raises(ValueError, match="'d' is a new class, and 3 are the most"):
            learn()
    assert to_bytes(state_of(model)) == before
    model.learn_one({"x": 1.0}, "c")
    assert model.n_learned == 5
