"""AdaBoost, against scikit-learn's with the same weak learners."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier

from iln_stream.research.experiments.methods.adaboost import adaboost

RNG = np.random.default_rng(0)
X = (RNG.random((400, 9)) < 0.4).astype(float)
Y = np.where(X[:, 0] + X[:, 1] + X[:, 2] + 0.8 * RNG.standard_normal(400) > 1.2, 1.0, -1.0)
H = 2 * X - 1


class BestColumn(ClassifierMixin, BaseEstimator):
    """The column, or its negation, with the smallest weighted error, for scikit-learn's loop."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.array([-1.0, 1.0])
        edges = [(sample_weight * y * h).sum() for h in X.T]
        self.column = max(range(len(edges)), key=lambda j: abs(edges[j]))
        self.sign = np.sign(edges[self.column])
        return self

    def predict(self, X):
        return self.sign * X[:, self.column]


def test_is_scikit_learns():
    """Rounds choose the columns of scikit-learn's AdaBoost, with half its weights."""
    columns, alphas = adaboost(H, Y, 12)
    theirs = AdaBoostClassifier(BestColumn(), n_estimators=12).fit(H, Y)
    assert columns.tolist() == [h.column for h in theirs.estimators_]
    signed = [
        h.sign * w / 2 for h, w in zip(theirs.estimators_, theirs.estimator_weights_, strict=True)
    ]
    np.testing.assert_allclose(alphas, signed, rtol=1e-9)


def test_a_perfect_learner_ends_it():
    """A weak learner without errors is chosen once, with a finite weight; one round has one."""
    columns, alphas = adaboost(np.column_stack([H, -Y]), Y, 10)
    assert columns.tolist() == [9]
    assert np.isfinite(alphas).all()
    assert alphas[0] < -5
    assert len(adaboost(H, Y, 1)[0]) == 1


def test_chance_ends_it():
    """Weak learners at exactly chance are not chosen."""
    columns, _ = adaboost(np.array([[1.0], [1.0]]), np.array([1.0, -1.0]), 5)
    assert len(columns) == 0
