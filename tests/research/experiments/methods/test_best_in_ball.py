"""The best function of a ball in hindsight."""

import numpy as np
import pytest
from scipy.optimize import minimize

from iln_stream.features import GaussianFourier
from iln_stream.research.experiments.methods.best_in_ball import kernel_factor, least_loss


def data(n=60):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (n, 2))
    return X, np.sign(rng.standard_normal(n)), GaussianFourier(0.5).kernel


def test_factor():
    """L L' is the kernel matrix to the tolerance, from fewer columns than points."""
    X, _, kernel = data()
    L = kernel_factor(X, kernel, tolerance=1e-8)
    K = np.array([kernel(X, x) for x in X])
    assert L.shape[1] < 60
    assert np.abs(L @ L.T - K).max() < 1e-7


def test_too_few_columns():
    """A rank that does not reach the tolerance is refused, not used silently."""
    X, _, kernel = data()
    with pytest.raises(ValueError, match="rank 3 leaves"):
        kernel_factor(X, kernel, rank=3)


@pytest.mark.parametrize("B", [0.3, 3.0])
def test_agrees_with_a_general_solver(B):
    """SciPy's constrained minimiser finds no lower loss, and the same one."""
    X, y, kernel = data()
    L = kernel_factor(X, kernel, tolerance=1e-4)
    found = minimize(
        lambda beta: 0.5 * np.sum((L @ beta - y) ** 2),
        np.zeros(L.shape[1]),
        jac=lambda beta: L.T @ (L @ beta - y),
        constraints={
            "type": "ineq",
            "fun": lambda beta: B**2 - beta @ beta,
            "jac": lambda b: -2 * b,
        },
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert least_loss(L, y, B) == pytest.approx(found.fun, rel=1e-5)
