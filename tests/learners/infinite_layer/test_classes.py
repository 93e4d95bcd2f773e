import numpy as np
import pytest
from support.prequential import teach

from iln_stream.kernels.mixing import LEAST_PROBABILITY
from iln_stream.learners.infinite_layer.classes import LINEUPS, ClassificationEngine
from iln_stream.learners.infinite_layer.experts.past_classes import PastClasses
from iln_stream.learners.restoring import random_key
from iln_stream.state import from_bytes, to_bytes


def signs(n, seed=0, classes=(False, True)):
    """Events whose class is the sign of a product of two inputs."""
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return [(dict(zip("ab", x, strict=True)), classes[x[0] * x[1] > 0]) for x in X.tolist()]


def taught(events):
    return teach(ClassificationEngine(256, random_key(1)), events)


def test_each_expert_is_reported_by_its_name():
    """The four sharpnesses of an expert count together; weights sum to one."""
    engine = taught(signs(100))
    weights = engine.expert_weights()
    networks = [
        f"{name}-{end}" for name in LINEUPS["accurate"].networks for end in ("short", "long")
    ]
    ridges = ["dense", "sparse", "sharp", "linear", "frequencies", "naive-bayes"]
    assert list(weights) == [
        *ridges,
        *PastClasses.names,
        "changes",
        "trees",
        *networks,
        "correction",
    ]
    assert sum(weights.values()) == pytest.approx(1.0)


def test_without_inputs_frequencies_are_predicted():
    """Each class has its share of the events, with one event added to each."""
    rng = np.random.default_rng(0)
    labels = rng.choice(["rare", "usual", "other"], p=[0.05, 0.75, 0.2], size=2_000).tolist()
    engine = taught([({}, label) for label in labels])
    n = len(labels)
    predicted = engine.predict({})
    assert list(predicted) == engine.classes
    for label, share in predicted.items():
        assert share == pytest.approx((labels.count(label) + 1) / (n + 3), abs=0.05)
    assert dict(zip(engine.classes, engine.counts, strict=True)) == {
        label: labels.count(label) for label in engine.classes
    }


def test_no_class_is_impossible_to_any_expert():
    """However sure an expert is, a surprise costs it a bounded log loss: each class has a share."""
    engine = taught([({"a": -1.0 + 2.0 * (i % 2)}, i % 2) for i in range(400)])
    assert engine.predict({"a": 1.0})[1] > 0.99
    assert engine.predict({"a": 1.0})[0] >= LEAST_PROBABILITY / 2
    before = engine.mixture.log_weights.copy()
    engine.learn({"a": 1.0}, 0)
    given = np.exp(engine.mixture.log_weights - engine.mixture.discount * before)
    assert LEAST_PROBABILITY / 2 * (1 - 1e-9) <= given.min() < 0.01


@pytest.mark.parametrize("classes", [("no", "yes"), (0, 1), (False, True), ((1, "a"), (2, "b"))])
def test_labels_of_any_type_come_back(classes):
    """A restored engine predicts for the same labels, of the same types, bit for bit."""
    engine, twin = taught(signs(70, classes=classes)), taught([])
    twin.restore(from_bytes(to_bytes(engine.state())))
    for x, y in signs(70, seed=1, classes=classes):
        predicted = twin.predict(x)
        assert predicted == engine.predict(x)
        assert {type(label) for label in predicted} == {type(classes[0])}
        twin.learn(x, y)
        engine.learn(x, y)
    assert twin.n == engine.n == 140


def test_relevance_is_of_all_experts():
    """The two inputs of the product have it; a third has next to none."""
    rng = np.random.default_rng(2)
    engine = taught([({**x, "noise": float(rng.normal())}, y) for x, y in signs(400)])
    relevance = engine.relevance()
    assert list(relevance) == ["a", "b", "noise"]
    assert sum(relevance.values()) == pytest.approx(1.0)
    assert relevance["noise"] < 0.1
