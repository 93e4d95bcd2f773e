"""The loop with late labels equals a walk by hand in the order of River's `stream.simulate_qa`."""

import hashlib
import json
import random

import pytest
from river import linear_model, metrics, preprocessing, stream
from river.datasets import synth
from support.heard import Heard
from support.list_source import LIST, ListSource

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.loop import (
    Classification,
    LateLabels,
    LatePolicy,
    LearnsLate,
    PrequentialLoop,
    Regression,
)
from iln_stream.state import from_bytes, to_bytes
from iln_stream.streams import Record

pytestmark = pytest.mark.long  # each learner twice over its streams

N = 400


def sparse():
    """Inputs that come and go, as categories do."""
    rng = random.Random(3)
    for _ in range(N):
        shop = rng.choice("abcdefgh")
        yield (
            {f"shop={shop}": 1.0, **({"size": rng.random()} if rng.random() < 0.5 else {})},
            ord(shop) / 9,
        )


STREAMS = {
    "drifting": lambda: synth.FriedmanDrift(position=(100, 200, 300), seed=2).take(N),
    "sparse": sparse,
}
LEARNERS = {
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
    "fast": lambda: InfiniteLayerRegressor("fast", seed=1),
    "ridge": lambda: RandomFeatureRidge(seed=1),
    "pipeline": lambda: preprocessing.StandardScaler() | linear_model.LinearRegression(),
    "classifier": lambda: InfiniteLayerClassifier(seed=1),
    "classes by a pipeline": lambda: (
        preprocessing.StandardScaler() | linear_model.LogisticRegression()
    ),
}


def delay_of(x, y):
    """A delay of 0 to 90 events that seems random and is the same each time."""
    digest = hashlib.sha256(repr((sorted(x.items()), y)).encode()).digest()
    return digest[0] % 91 if digest[1] % 8 else 2 * digest[0]


def labelled(name, dataset):
    """Yield the stream; for a classifier, whether its target is above that of the event before."""
    last = 0.0
    for named, y in dataset:
        x = {str(k): v for k, v in named.items()}  # as JSON names them
        yield (x, bool(y > last)) if name.startswith("class") else (x, y)
        last = y


@pytest.mark.parametrize("source", STREAMS)
@pytest.mark.parametrize("name", LEARNERS)
def test_as_a_walk_by_hand(name, source, monkeypatch):
    """Predictions, score and final state are those of a walk that keeps each token in a dict, bit
    for bit, though the loop packs waiting events and its state goes through a file twice."""
    monkeypatch.setattr("iln_stream.loop.pending.BLOCK", 64)
    learner, by_hand = LEARNERS[name](), LEARNERS[name]()
    is_classifier = name.startswith("class")
    task = Classification() if is_classifier else Regression()
    predict = by_hand.predict_proba_one if is_classifier else by_hand.predict_one
    score = metrics.LogLoss() if is_classifier else metrics.MAE()
    asked, predicted, records = {}, [], []
    for i, x, y in stream.simulate_qa(labelled(name, STREAMS[source]()), None, delay_of):
        if y is None:
            records.append({"x": x, "id": f"event {i}"})
            asked[i] = (
                by_hand.predict_token(x) if isinstance(by_hand, LearnsLate) else (predict(x), None)
            )
            predicted.append(asked[i][0])
        else:
            records.append({"id": f"event {i}", "y": y})
            y_pred, token = asked.pop(i)
            if token is None:
                by_hand.learn_one(x, y)
            else:
                by_hand.learn_token(x, token, y)
            if y_pred != {}:
                score.update(y, y_pred)
    assert len(records) == 2 * N

    kept = Heard()
    late = LateLabels(LatePolicy(N), task, ["list"])
    for begin in range(0, len(records), 300):
        restored = LateLabels(LatePolicy(N), task, ["list"])
        restored.restore(from_bytes(to_bytes(late.state())))
        late = restored
        PrequentialLoop(
            ListSource(
                Record(n, json.dumps(records[n]).encode(), LIST)
                for n in range(begin, min(begin + 300, len(records)))
            ),
            learner,
            [kept],
            task=task,
            late=late,
        ).run()
    assert kept.letters == []
    steps = [step for step in kept.steps if not step.late]
    assert [step.y_pred for step in steps] == predicted
    scored = type(score)()
    for step in kept.steps:
        if step.late and step.y_pred != {}:
            scored.update(step.y, step.y_pred)
    assert scored.get() == score.get()
    if hasattr(learner, "state"):
        assert to_bytes(learner.state()) == to_bytes(by_hand.state())
    x = {"a": 0.5}
    again = learner.predict_proba_one if is_classifier else learner.predict_one
    assert again(x) == predict(x)
