"""Budgeted kernel SGD, against the one without a budget; removal, projection and merging, against
the Gram matrix, least squares and a search.
"""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics.pairwise import rbf_kernel
from support.two_classes import as_dict, blobs, events, learn_all

from iln_stream.research.related import BudgetedKernelSGD, KernelPegasos
from iln_stream.research.related.budgeted_kernel_sgd import merge, project, remove_smallest
from iln_stream.research.related.kernel_expansion import KernelExpansion

STRATEGIES = ("projection", "merging")


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_without_pressure_it_is_pegasos(maintenance):
    """A budget that is never reached changes nothing."""
    X, y = blobs(200)
    model = learn_all(BudgetedKernelSGD(0.01, 0.5, 200, maintenance), X, y)
    free = learn_all(KernelPegasos(0.01, 0.5), X, y)
    xs = list(map(as_dict, X))
    np.testing.assert_array_equal(model.decision_many(xs), free.decision_many(xs))
    assert model.degradation == 0.0


@pytest.mark.parametrize("maintenance", STRATEGIES)
def test_budget_holds(maintenance):
    """There are never more than B support vectors, and what the budget costs is reported."""
    X, y = blobs(300)
    model = BudgetedKernelSGD(0.01, 0.5, 15, maintenance)
    for x, label in events(X, y):
        model.learn_one(x, label)
        assert model.n_support <= 15
    assert model.degradation > 0.0


def test_unknown_strategy():
    """The error about a strategy lists those that exist."""
    with pytest.raises(ValueError, match="must be one of projection, merging"):
        BudgetedKernelSGD(maintenance="removal")


GAMMA = 0.4


def expansion(n=12, seed=0, d=2):
    rng = np.random.default_rng(seed)
    f = KernelExpansion(GAMMA)
    for _ in range(n):
        f.append(rng.standard_normal(d), rng.standard_normal())
    f.scale(0.7)
    return f


def of_terms(*terms):
    """The sum of these terms, points with coefficients."""
    f = KernelExpansion(GAMMA)
    for x, c in terms:
        f.append(np.array(x, ndmin=1), c)
    return f


def squared_distance(X, a, Z, b):
    """||sum a_i k(X_i, .) - sum b_i k(Z_i, .)||^2."""
    points, c = np.vstack([X, Z]), np.concatenate([a, -b])
    return c @ rbf_kernel(points, gamma=GAMMA) @ c


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("maintain", [remove_smallest, project, merge])
def test_degradation_is_the_distance_moved(maintain, seed):
    """The returned ||Delta||^2 is the squared distance between f before and after, and f is one
    term shorter."""
    f = expansion(seed=seed)
    X, a = f.points.copy(), f.coefficients.copy()
    found = maintain(f)
    assert len(f) == 11
    assert found == pytest.approx(squared_distance(X, a, f.points, f.coefficients), abs=1e-8)


def test_removal_of_equal_terms_takes_the_oldest():
    """Coefficients that differ by rounding alone count as equal, and the first term goes; were it
    the newest each time, f would never change."""
    f = of_terms(*((float(k), (-1) ** k * (0.3 - 1e-16 * k)) for k in range(5)))
    for oldest in range(3):
        f.append(np.array([float(5 + oldest)]), 0.3 - 1e-15)
        remove_smallest(f)
        assert f.points[:, 0].tolist() == [oldest + 1 + k for k in range(5)]


@pytest.mark.parametrize("seed", range(2))
def test_projection_is_the_least_squares_one(seed):
    """Of all dropped terms and all coefficients of the others, projection finds the closest f."""
    f = expansion(seed=seed)
    X, a = f.points.copy(), f.coefficients.copy()
    K = rbf_kernel(X, gamma=GAMMA)
    best = []
    for p in range(len(X)):
        rest = np.arange(len(X)) != p
        b = np.linalg.solve(K[np.ix_(rest, rest)], K[rest] @ a)  # normal equations
        best.append(squared_distance(X, a, X[rest], b))
    assert project(f) == pytest.approx(min(best), rel=1e-5)
    # The residual is orthogonal to every function that is left.
    residual = rbf_kernel(f.points, X, gamma=GAMMA) @ a - [f(z) for z in f.points]
    np.testing.assert_allclose(residual, 0.0, atol=1e-7)


def test_projection_of_a_repeated_point_costs_nothing():
    """A point that is there twice is dropped, and its coefficient added to its twin's."""
    f = expansion()
    z = np.array([0.3, -0.2])
    f.append(f.points[4].copy(), 2.0)
    before = f(z)
    assert project(f) == pytest.approx(0.0, abs=1e-8)
    assert f(z) == pytest.approx(before, abs=1e-5)


@pytest.mark.parametrize("seed", range(2))
def test_merging_keeps_the_best_point_between_two(seed):
    """The new term is the projection of the two onto one kernel, and no h gives a better one."""
    rng = np.random.default_rng(seed)
    X, a = rng.standard_normal((2, 3)), rng.uniform(0.2, 1.0, 2) * (-1) ** seed
    f = of_terms(*zip(X, a, strict=True))
    merge(f)
    z, a_z = f.points[0], f.coefficients[0]
    k = rbf_kernel(z[None], X, gamma=GAMMA)[0]
    assert a_z == pytest.approx(k @ a)  # <Delta, k(z, .)> = 0
    found = squared_distance(X, a, f.points, f.coefficients)

    def cost(h):
        z = h * X[:1] + (1 - h) * X[1:]
        b = rbf_kernel(z, X, gamma=GAMMA) @ a
        return squared_distance(X, a, z, b)

    searched = min(
        minimize_scalar(cost, bounds=(i / 10, (i + 1) / 10), method="bounded").fun
        for i in range(10)
    )
    assert found == pytest.approx(searched, abs=1e-8)


def test_merging_of_equal_points_adds_them():
    """Two terms at one point become one with the sum of their coefficients, at no cost."""
    f = of_terms(([1.0, 2.0], 0.5), ([1.0, 2.0], 0.25), ([0.0, 0.0], -1.0))
    assert merge(f) == pytest.approx(0.0, abs=1e-12)
    assert sorted(f.coefficients) == pytest.approx([-1.0, 0.75])


@pytest.mark.parametrize("seed", [0, 20, 38])
def test_no_other_partner_costs_less(seed):
    """The smallest term is merged where it costs least: as little as the best of all pairs."""
    f = expansion(seed=seed)
    a, X = f.coefficients, f.points.copy()
    m = int(np.argmin(abs(a)))
    partners = [n for n in np.flatnonzero(a * a[m] > 0) if n != m]
    costs = [merge(of_terms((X[m], a[m]), (X[n], a[n]))) for n in partners]
    assert merge(f) == pytest.approx(min(costs), rel=1e-3)


def test_merging_without_a_partner_removes():
    """A term whose sign no other has is dropped."""
    f = of_terms((0.0, -0.1), (1.0, 1.0))
    assert merge(f) == pytest.approx(0.01)
    assert f.coefficients.tolist() == [1.0]
