"""Learners of an infinite layer of coordinates."""

import numpy as np
import pytest

from iln_stream.research.experiments.methods.linear_networks import (
    doubly_stochastic,
    exact,
    fixed_random,
    full_sums,
    shrinking_gradient,
)
from iln_stream.research.paper.algorithms import Iterate, est_scalar_prod, shrinking_gradient_step


def stream(T=30, D=8, scale=1.0):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((T, D))
    return X, scale * (X @ np.linspace(-0.5, 0.5, D))


@pytest.mark.parametrize(("scale", "shrinks"), [(1.0, False), (200.0, True)])
def test_agrees_with_the_reference(scale, shrinks):
    """On the same draws every E_t and f_t is that of the algorithms as the paper writes them, with
    and without shrinks."""
    X, y = stream(scale=scale)
    T, D = X.shape
    m, etas = 6, np.array([0.3, 0.05])
    run = shrinking_gradient(X, y, m, etas, np.random.default_rng(3))
    for k, eta in enumerate(etas):
        rng, f, B = np.random.default_rng(3), Iterate(), eta * T**0.5
        count = 0
        for t in range(T):
            draws = iter(zip(rng.random(m), rng.integers(D, size=m), strict=True))
            f_t = sum(a * (x @ X[t]) / D for a, x in zip(f.alpha, f.x, strict=True))
            E_t = est_scalar_prod(f, X[t], m, lambda x, w: float(x[w]), lambda d=draws: next(d))
            assert run.E[k, t] == pytest.approx(E_t, rel=1e-9, abs=1e-12)
            assert run.f[k, t] == pytest.approx(f_t, rel=1e-9, abs=1e-12)
            count += abs(E_t) >= 16 * B
            f = shrinking_gradient_step(f, X[t], float(y[t]), E_t, eta, B)
        assert (count > 0) == shrinks


@pytest.mark.parametrize(
    "learner", [shrinking_gradient, full_sums, doubly_stochastic, fixed_random]
)
def test_many_units_are_the_kernel(learner):
    """With very many units every learner follows the exact kernel."""
    X, y = stream()
    etas = np.array([0.2])
    found = learner(X, y, 200_000, etas, np.random.default_rng(1)).f
    wanted = exact(X, y, 0, etas, np.random.default_rng(1)).f
    assert np.abs(found - wanted).max() < 0.05 * np.abs(wanted).max()


def test_accounts():
    """psi evaluations and draws of a pass: what each method's formula costs."""
    X, y = stream(T=10)
    etas, rng = np.array([0.1]), np.random.default_rng(0)
    assert shrinking_gradient(X, y, 3, etas, rng)[2:4] == (60, 30)
    assert fixed_random(X, y, 3, etas, rng)[2:4] == (30, 3)
    assert doubly_stochastic(X, y, 3, etas, rng)[2:4] == (3 * 55, 30)
    assert full_sums(X, y, 3, etas, rng)[2:4] == (3 * 55, 30)
