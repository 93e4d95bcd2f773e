"""Tasks: predictions, valid labels and losses of regression and classification."""

import math

import numpy as np
import pytest
from river import base, dummy, naive_bayes, stats
from support.heard import heard_of

from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.loop import Classification, Regression
from iln_stream.records import MalformedError


@pytest.mark.parametrize(
    ("given", "label"), [("yes", "yes"), (True, True), (False, False), (3.0, 3), (-1.0, -1)]
)
def test_classes(given, label):
    """A class is a string, a boolean or a whole number, which JSON may write as 3.0."""
    found = Classification().label(given)
    assert (found, type(found)) == (label, type(label))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (0.5, r"got 0\.5: the learner is a classifier; to learn numbers, set learner = inf"),
        (math.inf, "expected a class"),
        (None, "expected a class"),
        (2.0**53, "too large for an exact number; send it as text"),
    ],
)
def test_invalid_classes(given, message):
    """A fraction names the learner of numbers; a huge number would be rounded."""
    with pytest.raises(MalformedError, match=f"y: .*{message}"):
        Classification().label(given)


@pytest.mark.parametrize(("given", "label"), [(True, True), (0.0, False), (1.0, True)])
def test_two_classes(given, label):
    """A learner of false and true gets booleans, whatever the sender's form of them."""
    assert Classification(only_booleans=True).label(given) is label


@pytest.mark.parametrize("given", ["yes", 2.0, None])
def test_a_third_class(given):
    """Such a learner would take another class for one of the two, so it is refused."""
    with pytest.raises(MalformedError, match=r"false and true \(or 0 and 1\), got .*OneVsRest"):
        Classification(only_booleans=True).label(given)


class Certain(base.Classifier):
    """Predicts the last class; it has no probabilities, as some classifiers of River."""

    last = None

    def learn_one(self, x, y):
        self.last = y

    def predict_one(self, x):
        return self.last


def test_a_classifier_without_probabilities():
    """The predicted class has probability 1; before the first label the prediction is empty."""
    heard = heard_of(Certain(), *[b'{"x": {"a": 1}, "y": "o"}'] * 2, task=Classification())
    assert [step.y_pred for step in heard.steps] == [{}, {"o": 1.0}]


def test_probabilities_are_floats():
    """NumPy scalars become floats, which every listener can write."""
    found = Classification().checked({"a": np.float64(0.25), "b": np.float32(0.75)})
    assert set(map(type, found.values())) == {float}


@pytest.mark.parametrize("given", ["1", True, None])
def test_invalid_numbers(given):
    """A string, a boolean or None is not a number."""
    with pytest.raises(MalformedError, match="y: expected a number"):
        Regression().label(given)


def test_labels_below_the_bound():
    """The running loss of a label in the wrong direction is finite up to the bound, from which on
    a label is a dead letter."""
    lines = [b'{"x": {"a": 1}, "y": %s9.99e29}' % sign for sign in (b"", b"-")] * 100
    heard = heard_of(dummy.StatisticRegressor(stats.Mean()), *lines, b'{"x": {}, "y": -1e30}')
    scores = Regression().scores(window=10)
    scores.update(heard.steps)
    assert 1e58 < scores.running_loss < math.inf
    assert [letter.offset for letter in heard.letters] == [200]


def test_losses():
    """The losses are half the squared error, and minus the log of the class's probability."""
    assert Regression().loss(3.0, 1.0) == 2.0
    assert Classification().loss({"a": 0.25, "b": 0.75}, "a") == -math.log(0.25)
    assert Classification().loss({"a": 1.0}, "b") == pytest.approx(-math.log(1e-15))
    assert Classification().loss({}, "a") == 0.0
    assert Classification().loss({"a": 1.5}, "a") == 0.0  # a learner may return this


@pytest.mark.parametrize("learner", [InfiniteLayerClassifier(seed=1), naive_bayes.GaussianNB()])
def test_classifiers_run_in_the_loop(learner):
    """Classifiers learn string classes in the loop, and predict probabilities."""
    heard = heard_of(
        learner,
        *(
            b'{"x": {"a": %d}, "y": "%s"}' % (5 * (n % 2) + n % 3, b"ox"[n % 2 : n % 2 + 1])
            for n in range(40)
        ),
        b'{"x": {"a": 0}}',
        b'{"x": {"a": 0}, "y": 0.5}',
        task=Classification(),
    )
    scores = Classification().scores(window=10)
    scores.update(heard.steps)
    assert scores.n_labelled == 40
    assert scores.window_error.mean == 0.0
    assert sum(heard.steps[-1].y_pred.values()) == pytest.approx(1.0)
    assert max(heard.steps[-1].y_pred, key=heard.steps[-1].y_pred.get) == "o"
    assert ["expected a class" in letter.reason for letter in heard.letters] == [True]


def test_a_class_is_no_number_for_a_regressor():
    """In a regression a string as label makes a dead letter."""
    heard = heard_of(dummy.StatisticRegressor(None), b'{"x": {}, "y": "a"}', task=Regression())
    assert heard.letters[0].reason == (
        "y: expected a finite number, got 'a'; if it is a class, set learner = "
        "infinite-layer-classifier"
    )


def test_class_scores_state():
    """Restored scores of a classification are the same."""
    first, second = Classification().scores(5), Classification().scores(5)
    heard = heard_of(
        naive_bayes.GaussianNB(),
        *(b'{"x": {"a": %d}, "y": %d}' % (n, n % 3) for n in range(20)),
        task=Classification(),
    )
    first.update(heard.steps)
    second.restore(first.state())
    assert second.running_loss == first.running_loss
    assert second.state() == first.state()
    values = [spec.read() for spec in first.metrics()]
    assert values == [spec.read() for spec in second.metrics()]
    assert len(first.window_answers) == 5
