"""Dual coordinate descent, against LinearSVC."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC
from support.two_classes import blobs

from iln_stream.research.experiments.methods.linear_svm import hinge_objective, linear_svm


@pytest.mark.parametrize("lam", [0.1, 1e-3])
def test_reaches_the_optimum(lam):
    """The objective is within 0.2 % of LinearSVC's, also with a row of zeros."""
    X, y = blobs(400)
    X[7] = 0.0
    svc = LinearSVC(loss="hinge", C=1 / (lam * 400), fit_intercept=False, tol=1e-9)
    svc.max_iter = 1_000_000
    best = hinge_objective(svc.fit(X, y).coef_[0], X, y, lam)
    found = hinge_objective(linear_svm(X, y, lam, epochs=2000, gap=1e-4), X, y, lam)
    assert best * (1 - 1e-6) <= found <= 1.002 * best


def test_stops_at_the_gap():
    """With separable data and a wide gap a few passes do: more allowed ones change nothing."""
    X = np.array([[2.0, 0.0], [-2.0, 0.0], [3.0, 1.0], [-3.0, 1.0]])
    y = np.array([1.0, -1.0, 1.0, -1.0])
    few, many = (linear_svm(X, y, 0.1, epochs, gap=0.01) for epochs in (50, 5000))
    np.testing.assert_array_equal(few, many)
    assert (y * (X @ few) > 0).all()
