"""`Capture`: what is restored predicts as the learner did, to the last bit."""

import numpy as np
import pytest
from river import base
from support.prequential import learned
from support.publishable import LEARNERS

from iln_stream.errors import PublishingError
from iln_stream.learners.infinite_layer.experts.networks import RECENT
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.snapshots.publisher import Capture, learner_of
from iln_stream.state import pack

AT = (0, 1, 63, 64, 128, 1000, 5000)


def events(seed, n):
    """Yield n events with missing inputs, a category, and columns that come later."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        values = rng.standard_normal(6).tolist()
        x = {f"v{j}": value for j, value in enumerate(values[: 3 + (i > 50) + 2 * (i > 400)])}
        if rng.random() < 0.3:
            del x[f"v{rng.integers(len(x))}"]
        x[f"kind={'abcde'[rng.integers(3 + 2 * (i > 200))]}"] = 1.0
        slow = 2.0 * np.sin(i / 20.0)  # so that the last targets count
        yield x, float(slow + np.tanh(values[0] * values[1]) + 3.0 * ("kind=a" in x))


def copied(learner):
    """Return what a follower restores."""
    capture = Capture(learner, allow_pickle=True)
    return learner_of(capture.take(), allow_pickle=True)


def answers(learner, x):
    """Return all that a learner can say of x, exactly."""
    if isinstance(learner, base.Classifier):
        return learner.predict_proba_one(x)
    found = [learner.predict_one(x)]
    if hasattr(learner, "predict_interval"):
        found += [learner.predict_interval(x, level) for level in (0.5, 0.9, 0.99)]
    return found


def label(learner, y):
    """Return y as the learner's kind of label."""
    is_classifier = isinstance(learner, base.Classifier)
    return ("low", "mid", "high")[int(np.clip(y, 0.0, 2.0))] if is_classifier else y


@pytest.mark.parametrize(
    "last", [130, *(pytest.param(n, marks=pytest.mark.thorough) for n in (1000, 5000))]
)
@pytest.mark.parametrize("name", [name for name in LEARNERS if name != "scaled-accurate"])
def test_predictions_are_the_same_bits(name, last):
    """Predictions, intervals and probabilities are the learner's, at the start, while experts wake
    and are redrawn, and later; and taking a copy leaves the learner as it was."""
    learner, alone = LEARNERS[name](), LEARNERS[name]()
    asked = [*[x for x, _ in events(7, 450)][::30], {}, {"new": 2.0}]
    for n, (x, y) in enumerate(events(1, last + 1)):
        if n in AT:
            restored = copied(learner)
            for each in asked:
                assert answers(restored, each) == answers(learner, each), n
            assert answers(alone, asked[0]) == answers(learner, asked[0])
        for each in (learner, alone):
            each.learn_one(x, label(learner, y))


@pytest.mark.parametrize("name", ["accurate", "fast", "classes"])
def test_many_columns(name):
    """The same holds after columns came one by one, for which rings keep some room."""
    learner = LEARNERS[name]()
    for n in range(90):
        x = {f"v{j}": float(np.sin(n * j)) for j in range(n // 2)}
        learner.learn_one(x, label(learner, np.cos(n)))
        if n % 6 == 0:
            assert answers(copied(learner), x) == answers(learner, x)


def test_relevance_is_the_same():
    """The relevance of inputs needs past events; the restored learner has enough of them."""
    learner = learned(InfiniteLayerRegressor(seed=1), events(1, 700))
    restored = copied(learner)
    assert restored.relevance == learner.relevance
    one, other = restored._engine.networks, learner._engine.networks  # used while ridges sleep
    weights = np.ones(len(one.names))
    assert one.relevance(weights).tolist() == other.relevance(weights).tolist()


def test_the_ring_is_left_out():
    """Of the events that networks replay only a few hundred are stored; a state that is taken
    afterwards has all events again."""
    learner = InfiniteLayerRegressor(seed=1)
    sizes = []
    for n, (x, y) in enumerate(events(1, 1500), 1):
        learner.learn_one(x, y)
        if n in (700, 1500):
            capture = Capture(learner, allow_pickle=False)
            arrays, _ = pack(capture.take())
            sizes.append(sum(a.nbytes for path, a in arrays.items() if "/ring/" in path))
    assert 0 < sizes[1] <= 1.1 * sizes[0]
    ring = learner.state()["learned"]["expert"]["experts"]["mean"]["experts"]["moving"]
    stored = ring["experts"]["networks"]["ring"]["events"]
    assert sum(len(block["targets"]) for block in stored) == 1500


@pytest.mark.parametrize("name", ["accurate", "scaled-accurate", "classes"])
def test_it_does_not_learn(name):
    """A learner whose past events were left out says so, rather than learn something else."""
    learner = LEARNERS[name]()
    for n in range(RECENT + 1):
        learner.learn_one({"a": n % 7}, label(learner, n % 3))
    with pytest.raises(TypeError, match="only predicts"):
        copied(learner).learn_one({"a": 1.0}, label(learner, 1.0))


@pytest.mark.parametrize("name", ["accurate", "fast"])
def test_it_learns_on_if_nothing_is_missing(name):
    """What is restored from the first events learns like the original."""
    learner = learned(LEARNERS[name](), events(1, 100))
    restored = copied(learner)
    for x, y in events(2, 50):
        learner.learn_one(x, y)
        restored.learn_one(x, y)
    assert answers(restored, {"v0": 1.0}) == answers(learner, {"v0": 1.0})


def test_what_can_not_be_pickled():
    """A learner that can't be pickled is refused with the reason."""
    learner = LEARNERS["pickled-pipeline"]()
    learner.callback = lambda: None
    with pytest.raises(PublishingError, match="can't be pickled"):
        Capture(learner, allow_pickle=True)
