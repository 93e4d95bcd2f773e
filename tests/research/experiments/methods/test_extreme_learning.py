"""Extreme learning machines, against their formulas and scikit-learn's ridge regression."""

import math

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from iln_stream.research.experiments.methods.extreme_learning import UNITS, ExtremeLearningMachine

RNG = np.random.default_rng(0)
X = RNG.uniform(-1, 1, (60, 3))
Y = X[:, 0] * X[:, 1] + X[:, 2]
FORMULAS = {
    "sigmoid": lambda x, a, b: 1 / (1 + math.exp(-(a @ x + b))),
    "gaussian": lambda x, a, b: math.exp(-b * ((x - a) @ (x - a))),
    "multiquadric": lambda x, a, b: math.sqrt((x - a) @ (x - a) + b * b),
    "hard limit": lambda x, a, b: float(a @ x + b >= 0),
}


@pytest.mark.parametrize("units", UNITS)
def test_units(units):
    """Each unit is its formula, with a and b from their laws."""
    model = ExtremeLearningMachine(units, 200, seed=3).fit(X, Y)
    H = model.hidden(X[:5])
    exact = [
        [FORMULAS[units](x, a, b) for a, b in zip(model.a, model.b, strict=True)] for x in X[:5]
    ]
    np.testing.assert_allclose(H, exact, atol=1e-9)
    assert -1 <= model.a.min() < -0.9 < 0.9 < model.a.max() <= 1
    low, high = (-1, 0) if units == "hard limit" else (0, 1)
    assert low <= model.b.min() < low + 0.1 < high - 0.1 < model.b.max() <= high


@pytest.mark.parametrize("units", UNITS)
@pytest.mark.parametrize("n_units", [20, 100])
def test_is_ridge_over_the_units(units, n_units):
    """With fewer and with more units than examples f is scikit-learn's Ridge, alpha = 1 / C."""
    model = ExtremeLearningMachine(units, n_units, C=50.0).fit(X, Y)
    theirs = Ridge(alpha=0.02, fit_intercept=False).fit(model.hidden(X), Y)
    np.testing.assert_allclose(model.predict(X), theirs.predict(model.hidden(X)), atol=1e-6)
