"""NORMA, against its recursion on the Gram matrix."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from support.two_classes import as_dict, blobs, learn_all

from iln_stream.research.related import NormaClassifier, NormaRegressor

GAMMA = 0.5
SLOPES = {
    "squared": lambda f, y: f - y,
    "epsilon-insensitive": lambda f, y: np.sign(f - y) * (abs(f - y) > 0.1),
    "huber": lambda f, y: np.clip((f - y) / 0.5, -1, 1),
    "hinge": lambda f, y: -y * (y * f < 1),
    "logistic": lambda f, y: -y / (1 + np.exp(y * f)),
}


def recursion(X, y, loss, step, lam, window):
    """f_{t+1} = (1 - eta lam) f_t - eta l' k(x_t, .), coefficients older than the window are 0."""
    K, c, b = rbf_kernel(X, gamma=GAMMA), np.zeros(len(X)), 0.0
    for t, eta in enumerate(step):
        slope = SLOPES[loss](K[t] @ c + b, y[t])
        c *= 1 - eta * lam
        c[t] -= eta * slope
        b -= eta * slope
        c[: max(t + 1 - window, 0)] = 0.0
    return K @ c + b


@pytest.mark.parametrize(("window", "decay_step"), [(25, False), (1000, True)])
@pytest.mark.parametrize("loss", SLOPES)
def test_is_the_sources_recursion(loss, window, decay_step):
    """Every loss takes the source's step, keeps its decay and drops old terms."""
    X, y = blobs(150)
    shared = {"loss": loss, "lam": 0.05, "gamma": GAMMA, "decay_step": decay_step, "window": window}
    if loss in ("hinge", "logistic"):
        model = NormaClassifier(**shared)
    else:
        y = np.sin(X[:, 0])
        model = NormaRegressor(epsilon=0.5 if loss == "huber" else 0.1, **shared)
    learn_all(model, X, y)
    step = 0.3 / np.sqrt(np.arange(1, 151)) if decay_step else np.full(150, 0.3)
    expected = recursion(X, y, loss, step, 0.05, window)
    np.testing.assert_allclose(model.decision_many(map(as_dict, X)), expected, rtol=1e-9)
    assert model.decision_one(as_dict(X[0])) == pytest.approx(expected[0])
    assert model.n_support <= window


def test_probabilities():
    """The logistic loss has probabilities, also where exp would overflow; the hinge has none."""
    model = NormaClassifier("logistic")
    assert model.predict_proba_one({"a": 1.0}) == {False: 0.5, True: 0.5}
    model._b = -1e4
    assert model.predict_proba_one({"a": 1.0}) == {False: 1.0, True: 0.0}
    with pytest.raises(NotImplementedError):
        NormaClassifier().predict_proba_one({"a": 1.0})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: NormaRegressor("hinge"), "loss = 'hinge' must be one of squared"),
        (lambda: NormaRegressor(step=2.0), "step = 2.0 must not exceed 1.0 for loss = 'squared'"),
        (lambda: NormaRegressor(step=0.5, lam=2.0), "step \\* lam = 1.0 must be below 1"),
        (lambda: NormaClassifier(rho=-1.0), "rho = -1.0 must not be negative"),
        (lambda: NormaRegressor().learn_one({"a": 1.0}, float("inf")), "y is inf"),
        (lambda: NormaRegressor().learn_one({"a": float("nan")}, 1.0), r"x\['a'\] is nan"),
    ],
)
def test_bad_input(make, message):
    """The error about an argument, an input or a target names it."""
    with pytest.raises(ValueError, match=message):
        make()
