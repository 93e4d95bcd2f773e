"""Classes that depend on the classes before them, while the inputs say nothing."""

import numpy as np
import pytest

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.expert import Observation
from iln_stream.learners.infinite_layer.experts.past_classes import MOST_FOLLOWED, PastClasses
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.state import from_bytes, to_bytes


def shares(labels, delay=0):
    """The probabilities that the part gave to each label, (T, 5), each known `delay` labels late.

    Of the first labels, which are predicted before their class is known, there are none.
    """
    memory = Memory(2048, 0)
    part, counts = PastClasses(memory), np.zeros(0)
    waiting, found = [], []
    for i in range(len(labels) + delay):
        if i < len(labels):
            p = np.zeros((5, len(counts)))
            if len(counts):
                part.predict(Observation(0, 0), counts, p)
                np.testing.assert_allclose(p.sum(axis=1), 1.0)
                assert p.min() >= 0.0
            waiting.append((p, labels[i]))
        if i >= delay:
            p, label = waiting.pop(0)
            if label < p.shape[1]:
                found.append(p[:, label])
            while label >= len(counts):
                counts = np.pad(counts, (0, 1))
                part.add_class()
            event = Observation(0, 0)
            event.delay = min(delay, memory.n)
            part.learn(event, label)
            memory.put(event.row, float(label))
            counts[label] += 1.0
    return np.array(found)


def chain(n, stay, seed=0, n_classes=3):
    """Classes of which each is the one before with the probability `stay`, else any."""
    rng = np.random.default_rng(seed)
    labels = [0]
    for _ in range(n - 1):
        labels.append(labels[-1] if rng.random() < stay else int(rng.integers(n_classes)))
    return labels


@pytest.mark.parametrize("delay", [0, 5])
def test_as_sure_as_the_class_stays(delay):
    """The log loss of no-change is at most 3 % above that of the known probabilities, which a delay
    makes less sure."""
    labels, stay = chain(4_000, 0.9), 0.9 ** (delay + 1)
    last = shares(labels, delay)[-2_000:, 0]
    same = np.array(labels[delay + 1 :]) == np.array(labels[: -delay - 1])
    best = np.where(same, stay + (1.0 - stay) / 3.0, (1.0 - stay) / 3.0)[-2_000:]
    assert -np.log(last).mean() < -1.03 * np.log(best).mean()


@pytest.mark.parametrize("delay", [0, 3, 40])
def test_an_order_that_repeats(delay):
    """Classes in an order of 11 events are known from one period, longer than the delay, to the
    next."""
    labels = [0, 1, 0, 0, 2, 1, 1, 2, 0, 2, 1] * 60
    assert shares(labels, delay)[-200:, 2].min() > 0.9


def test_successors():
    """A class that always follows another is expected after it, whatever comes between."""
    rng, labels = np.random.default_rng(1), []
    for _ in range(400):
        labels += [0, 1] if rng.random() < 0.5 else [2]
    after = np.array(labels[:-1]) == 0
    assert shares(labels)[-len(after) :][after][-100:, 1].min() > 0.9


def test_memory_is_bounded():
    """Room for successors grows with the classes, but for the first 64 only."""
    part = PastClasses(Memory(2048, 0))
    for _ in range(200):
        part.add_class()
    assert part.successors.shape == (MOST_FOLLOWED, 200)


def accuracy(model, labels, delay=0):
    """The share of right predictions in the last half, of events whose input is noise."""
    rng, waiting, right = np.random.default_rng(7), [], []
    for label in labels:
        x = {"noise": rng.normal()}
        p, token = model.predict_token(x)
        right.append(bool(p) and max(p, key=p.get) == label)
        waiting.append((x, token, label))
        if len(waiting) > delay:
            model.learn_token(*waiting.pop(0))
    return np.mean(right[len(right) // 2 :])


@pytest.mark.parametrize("delay", [0, 4])
def test_the_learner_takes_part_in_the_order(delay):
    """It predicts an order that no input shows, also where labels are late."""
    model = InfiniteLayerClassifier(seed=1)
    assert accuracy(model, ["a", "b", "b", "c", "a", "c", "b"] * 150, delay) > 0.95
    twin = InfiniteLayerClassifier(seed=1)
    twin.restore(from_bytes(to_bytes(model.state())))
    assert twin.predict_proba_one({"noise": 0.1}) == model.predict_proba_one({"noise": 0.1})


def test_noise_stays_noise():
    """Where classes are independent, the log loss is at most 6 % above their entropy."""
    rng = np.random.default_rng(3)
    labels = rng.choice(2, size=1_500, p=[0.7, 0.3]).tolist()
    model, losses = InfiniteLayerClassifier(seed=1), []
    for label in labels:
        x = {"noise": rng.normal()}
        p = model.predict_proba_one(x)
        losses.append(-np.log(p.get(label, 0.5)))
        model.learn_one(x, label)
    entropy = -(0.7 * np.log(0.7) + 0.3 * np.log(0.3))
    assert np.mean(losses[500:]) < 1.06 * entropy
