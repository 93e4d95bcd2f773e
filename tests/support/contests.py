"""Contests of our learners and River's, and streams for them."""

import numpy as np
from river import base, linear_model, naive_bayes, preprocessing, tree

from iln_stream.learners import state_of
from iln_stream.learners.contest import ContestClassifier, ContestRegressor
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor


def fast(seed):
    """One of ours."""
    return InfiniteLayerRegressor("fast", seed=seed)


def linear():
    """One of River's."""
    return preprocessing.StandardScaler() | linear_model.LinearRegression()


class Faulty(base.Regressor, base.Classifier):
    """Fails to predict or to learn from some event on, for a number of events, or changes x."""

    def __init__(self, predicts=range(0), learns=range(0), nan=range(0), meddles=False):
        self.predicts, self.learns, self.nan = predicts, learns, nan
        self.meddles = meddles
        self.n = 0

    def predict_one(self, x):
        if self.meddles:
            x["a"] = 1e9
        if self.n in self.predicts:
            self.n += 1
            raise RuntimeError("can't predict")
        return float("nan") if self.n in self.nan else 0.5

    def predict_proba_one(self, x):
        return {False: self.predict_one(x), True: 0.5}

    def learn_one(self, x, y):
        self.n += 1
        if self.meddles:
            x["a"] = 1e9
        if self.n - 1 in self.learns:
            raise RuntimeError("can't learn")

    @property
    def _multiclass(self):
        return True


def stream(n, seed=0, *, classes=False):
    """n events, with a category and an input that comes late."""
    rng = np.random.default_rng(seed)
    for t in range(n):
        a, b = rng.normal(size=2).tolist()
        x = {"a": a, "b": b, f"shop={t % 50}": 1.0} | ({"late": b} if t > n // 2 else {})
        y = a * b + a + 0.1 * float(rng.normal())
        yield x, ("low", "high", "peak")[(y > 0) + (y > 2)] if classes else y


def content(contest):
    """A contest's state; of River's learners, whose pickles may differ, only the class."""
    return contest.state(
        lambda each: state_of(each) if hasattr(each, "state") else {"river": type(each).__name__}
    )


def predict(model, x):
    """The prediction of the model's task."""
    if isinstance(model, ContestClassifier | InfiniteLayerClassifier):
        return model.predict_proba_one(x)
    return model.predict_one(x)


def run(model, events, delay=None):
    """The predictions of a model; with a delay labels come so many events later, by tokens."""
    found, waiting = [], []
    for x, y in events:
        if delay is None:
            found.append(predict(model, x))
            model.learn_one(x, y)
        else:
            prediction, token = model.predict_token(x)
            found.append(prediction)
            waiting.append((x, token, y))
            if len(waiting) > delay:
                model.learn_token(*waiting.pop(0))
    return found


def regressors(**kwargs):
    """A contest of ours and River's."""
    return ContestRegressor({"ours": fast(1), "other": fast(2), "linear": linear()}, **kwargs)


def classifiers(**kwargs):
    """A contest of ours and River's."""
    contenders = {
        "ours": InfiniteLayerClassifier(seed=1),
        "bayes": naive_bayes.GaussianNB(),
        "tree": tree.HoeffdingTreeClassifier(),
    }
    return ContestClassifier(contenders, **kwargs)


CONTESTS = {"regressors": regressors, "classifiers": classifiers}
