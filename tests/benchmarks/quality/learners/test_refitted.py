"""Batch models with refits."""

import pytest

from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.learners.refitted import Refitted, often


class Counted:
    """Predicts the number of rows it was fitted on."""

    def fit(self, X, y):
        self.n = len(y)
        return self

    def predict(self, X):
        return [self.n]


def test_refitted_predicts_the_mean_until_its_first_fit():
    """Behind the scaling a batch model starts as the running mean, and leaves it at event 32."""
    model = CONTENDERS["batch-kernel-ridge"].make(1)
    for t in range(31):
        model.learn_one({"a": float(t)}, float(t))
    assert model.predict_one({"a": 30.0}) == pytest.approx(15.0)
    model.learn_one({"a": 31.0}, 31.0)
    assert model.predict_one({"a": 30.0}) == pytest.approx(30.0, abs=3.0)


def test_a_model_is_fitted_on_all_events_when_the_schedule_says():
    """Between refits the model stays as it is; another schedule can be given."""
    model, seldom = (
        Refitted(lambda d: Counted()),
        Refitted(lambda d: Counted(), {10, 70}.__contains__),
    )
    found = []
    for _ in range(100):
        for one in (model, seldom):
            one.learn_one({"a": 1.0}, 1.0)
        found.append((model.predict_one({"a": 1.0}), seldom.predict_one({"a": 1.0})))
    assert found[30] == (0.0, 10.0)
    assert found[99] == (64.0, 70.0)
    assert [n for n in range(1, 1100) if often(n)] == [32, 64, 128, 256, 500, 1000]
