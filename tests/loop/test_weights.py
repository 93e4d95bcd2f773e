"""Weights of events, and which learners take them."""

import pytest
from river import ensemble, linear_model, multiclass, naive_bayes, neighbors, preprocessing, tree
from support.heard import heard_of

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.loop import Classification, EventWeights, LateLabels, LatePolicy, takes_weights


def test_weights():
    """An event's own weight and that of its class are multiplied; each is 1 by default."""
    weigh = EventWeights({"true": 4.0, "3": 0.5, "cat": 0.0})
    assert [weigh(y, None) for y in (True, False, 3, "3", "cat", "dog")] == [4, 1, 0.5, 0.5, 0, 1]
    assert weigh(True, 0.25) == 1.0
    assert EventWeights()("cat", 2.0) == 2.0


@pytest.mark.parametrize(
    ("learner", "takes"),
    [
        (tree.HoeffdingTreeClassifier(), True),
        (preprocessing.StandardScaler() | linear_model.LogisticRegression(), True),
        (ensemble.BaggingClassifier(linear_model.LogisticRegression()), True),
        (preprocessing.StandardScaler() | naive_bayes.GaussianNB(), False),
        (multiclass.OneVsRestClassifier(naive_bayes.GaussianNB()), False),
        (InfiniteLayerClassifier(seed=1), True),
        (ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=1)), True),
        (ScaledTarget(WinsorisedScaler() | neighbors.KNNRegressor()), False),
    ],
)
def test_who_takes_weights(learner, takes):
    """A learner that is said to take weights learns with one, and another does not."""
    assert takes_weights(learner) is takes
    if takes:
        learner.learn_one({"a": 1.0}, True, w=0.5)


def run(learner, *payloads, pending=False, **options):
    task = Classification()
    late = LateLabels(LatePolicy(10), task, ["list"]) if pending else None
    return heard_of(learner, *payloads, task=task, late=late, **options)


EVENT = b'{"x": {"a": 1}, "y": true, "weight": 3}'


def test_events_are_learned_with_their_weight():
    """The loop learns as the learner does with `w`: of the event times that of the class."""
    learner, alone = linear_model.LogisticRegression(), linear_model.LogisticRegression()
    other = b'{"x": {"a": 2}, "y": false}'
    run(learner, EVENT, other, weights=EventWeights({"true": 2.0}))
    alone.learn_one({"a": 1.0}, True, w=6.0)
    alone.learn_one({"a": 2.0}, False, w=1.0)
    assert dict(learner.weights) == dict(alone.weights)
    assert dict(learner.weights) != {}


@pytest.mark.parametrize(("late", "weight"), [(b"", 3.0), (b', "weight": 5', 5.0)])
def test_late_labels(late, weight):
    """A late label has the weight of its record, or else that of the event."""
    learner, alone = linear_model.LogisticRegression(), linear_model.LogisticRegression()
    first = b'{"x": {"a": 1}, "id": "e", "weight": 3}'
    label = b'{"id": "e", "y": true%s}' % late
    heard = run(learner, first, label, weights=EventWeights(), pending=True)
    alone.learn_one({"a": 1.0}, True, w=weight)
    assert heard.letters == []
    assert dict(learner.weights) == dict(alone.weights)


def test_a_weight_is_not_ignored():
    """An event with a weight is a dead letter if the learner would learn it without."""
    heard = run(naive_bayes.GaussianNB(), EVENT)
    assert heard.steps == []
    assert heard.letters[0].reason.startswith("weight: GaussianNB takes no weights")


@pytest.mark.parametrize("weight", [b"-1", b"NaN", b'"2"', b"true", b"1e999"])
def test_wrong_weights(weight):
    """A weight is a finite number that is not negative."""
    payload = EVENT.replace(b"3", weight)
    heard = run(linear_model.LogisticRegression(), payload, EVENT, weights=EventWeights())
    assert heard.told == [("letter", 0), ("step", 1)]
