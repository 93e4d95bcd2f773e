"""Ridge regression on units that gradients move."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from iln_stream.research.experiments.methods import moved_units
from iln_stream.research.experiments.methods.moved_units import REFIT, MovedUnits


def events(n, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.sin(3.0 * X[:, 0])


def learned(n, **options):
    model = MovedUnits(3, 16, seed=1, **options)
    for x, y in zip(*events(n), strict=True):
        model.learn_one(dict(enumerate(x)), y)
    return model


def test_fixed_units_are_ridge_regression():
    """Without moves theta is scikit-learn's ridge solution on the same features."""
    n = 4 * REFIT
    model = learned(n, moves=False)
    X, y = events(n)
    phi = model.features(np.column_stack([X, np.ones(n)]))
    wanted = Ridge(alpha=0.1, fit_intercept=False).fit(phi, y).coef_
    assert model.theta == pytest.approx(wanted, rel=1e-6)


def test_memory_is_a_ring(monkeypatch):
    """Only the last events of the memory count in a refit."""
    monkeypatch.setattr(moved_units, "MEMORY", 2 * REFIT)
    model = learned(5 * REFIT, moves=False)
    X, y = (part[-2 * REFIT :] for part in events(5 * REFIT))
    phi = model.features(np.column_stack([X, np.ones(len(X))]))
    wanted = Ridge(alpha=0.1, fit_intercept=False).fit(phi, y).coef_
    assert model.theta == pytest.approx(wanted, rel=1e-6)


def test_gradient():
    """It is the derivative of half the mean squared error, by central differences."""
    model = learned(2 * REFIT)
    X, y = events(5, seed=2)
    rows = np.column_stack([X, np.ones(5)])
    found = model.gradient(rows, y)
    for place in ((0, 0), (2, 7), (3, 15)):
        losses = []
        for change in (1e-5, -2e-5):
            model.units[place] += change
            losses.append(0.5 * np.mean((model.features(rows) @ model.theta - y) ** 2))
        model.units[place] += 1e-5
        assert found[place] == pytest.approx((losses[0] - losses[1]) / 2e-5, rel=1e-4, abs=1e-8)
