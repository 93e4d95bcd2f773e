"""Random kitchen sinks, against scikit-learn's and scipy's solvers on the same units."""

import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVC
from support.two_classes import blobs

from iln_stream.features import DecisionStumps, GaussianFourier, Sigmoid
from iln_stream.research.experiments.methods.kitchen_sinks_batch import RandomKitchenSinks
from iln_stream.research.experiments.methods.linear_svm import hinge_objective

X, Y = blobs(300)
FAMILIES = [DecisionStumps(), GaussianFourier(0.3), Sigmoid()]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
def test_squared_loss_is_ridge(family):
    """Without a bound alpha is scikit-learn's Ridge on the units."""
    model = RandomKitchenSinks(family, 40, lam=0.01).fit(X, Y)
    theirs = Ridge(alpha=0.01 * 300, fit_intercept=False).fit(model.units(X), Y)
    np.testing.assert_allclose(model.alpha, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(model.decision(X), theirs.predict(model.units(X)), atol=1e-8)


def test_hinge_loss_is_a_linear_machine():
    """Without a bound the objective is within 1 % of LinearSVC's on the units."""
    model = RandomKitchenSinks(GaussianFourier(0.3), 40, "hinge", lam=0.01).fit(X, Y)
    Psi = model.units(X)
    best = LinearSVC(loss="hinge", C=1 / 3, fit_intercept=False, tol=1e-8, max_iter=200_000)
    optimum = hinge_objective(best.fit(Psi, Y).coef_[0], Psi, Y, 0.01)
    assert hinge_objective(model.alpha, Psi, Y, 0.01) <= 1.01 * optimum


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
@pytest.mark.parametrize("C", [2.0, 20.0])
def test_bounded_squared_loss(family, C):
    """With a bound the mean squared loss is within 0.01 % of scipy's bounded least squares, and
    the bound is active."""
    model = RandomKitchenSinks(family, 40, lam=0.0, bound=C).fit(X, Y)
    best = lsq_linear(model.units(X), Y, (-C / 40, C / 40), tol=1e-12)
    loss = np.mean((model.decision(X) - Y) ** 2) / 2
    assert best.cost / 300 * (1 - 1e-9) <= loss <= best.cost / 300 * 1.0001
    assert np.abs(model.alpha).max() == pytest.approx(C / 40)


@pytest.mark.parametrize("C", [2.0, 20.0])
def test_bounded_hinge_loss(C):
    """With a bound the mean hinge loss is at most 0.005, the price of smoothing, above that of the
    exact linear program."""
    model = RandomKitchenSinks(DecisionStumps(), 40, "hinge", lam=0.0, bound=C).fit(X, Y)
    Psi = model.units(X)
    program = linprog(
        np.concatenate([np.zeros(40), np.full(300, 1 / 300)]),
        A_ub=np.hstack([-Y[:, None] * Psi, -np.eye(300)]),
        b_ub=-np.ones(300),
        bounds=[(-C / 40, C / 40)] * 40 + [(0, None)] * 300,
    )
    loss = np.maximum(0, 1 - Y * model.decision(X)).mean()
    assert program.fun - 1e-9 <= loss <= program.fun + 0.005
