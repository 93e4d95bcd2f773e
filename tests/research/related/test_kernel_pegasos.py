"""Kernel Pegasos, against the linear one's dual form, scikit-learn's optimum and a Gram matrix."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC
from support.kernel_svm import optimum
from support.two_classes import as_dict, blobs, learn_all

from iln_stream.research.related import KernelPegasos

GAMMA = 0.5


def gram_pegasos(X, y, lam, batch, project):
    """The source's Figure 3 with coefficients over all examples, and its batch and projection."""
    K = rbf_kernel(X, gamma=GAMMA)
    c = np.zeros(len(X))
    for t in range(1, len(X) // batch + 1):
        A = np.arange((t - 1) * batch, t * batch)
        inside = y[A] * (K[A] @ c) < 1
        eta = 1 / (lam * t)
        c *= 1 - eta * lam
        c[A] += eta / batch * y[A] * inside
        if project and c.any():
            c *= min(1.0, 1 / np.sqrt(lam) / np.sqrt(c @ K @ c))
    return K @ c


@pytest.mark.parametrize("batch", [1, 6])
@pytest.mark.parametrize("project", [False, True])
def test_is_the_sources_algorithm(batch, project):
    """f takes the values that the algorithm gives on the Gram matrix."""
    X, y = blobs(300)
    lam = 1e-3 if project else 0.01  # so small that the ball binds
    model = learn_all(KernelPegasos(lam, GAMMA, batch, project), X, y)
    np.testing.assert_allclose(
        model.decision_many(map(as_dict, X)), gram_pegasos(X, y, lam, batch, project), rtol=1e-8
    )


def test_projection_binds():
    """The test of the projection is not one where it does nothing."""
    X, y = blobs(300)
    projected, free = (gram_pegasos(X, y, 1e-3, 1, project) for project in (True, False))
    assert abs(projected - free).max() > 0.01


def test_reaches_the_optimum():
    """After 20 passes the objective is within 2 % of the dual's optimum."""
    X, y = blobs(200)
    lam, K = 0.05, rbf_kernel(blobs(200)[0], gamma=GAMMA)
    model = KernelPegasos(lam=lam, gamma=GAMMA)
    for _ in range(20):
        learn_all(model, X, y)
    f = model.decision_many(map(as_dict, X))
    squared_norm = model._f.coefficients @ model._f.many(model._f.points)
    found = lam / 2 * squared_norm + np.maximum(0, 1 - y * f).mean()
    assert optimum(K, y, lam) <= found <= 1.02 * optimum(K, y, lam)


def test_agrees_with_svc():
    """It classifies at least 95 % of new points as SVC does (whose intercept is small here)."""
    X, y = blobs(400)
    lam = 0.005
    model = KernelPegasos(lam=lam, gamma=GAMMA, batch=4)
    for _ in range(10):
        learn_all(model, X, y)
    svc = SVC(C=1 / (lam * len(X)), gamma=GAMMA).fit(X, y)
    Z, _ = blobs(1000, seed=1)
    agree = np.sign(model.decision_many(map(as_dict, Z))) == svc.predict(Z)
    assert agree.mean() > 0.95


def test_decision_one_is_decision_many():
    """Inputs one by one and together get the same f, also with names never seen."""
    X, y = blobs(50)
    model = learn_all(KernelPegasos(), X, y)
    xs = [*map(as_dict, X[:5]), {"x0": 1.0, "new": 2.0}]
    np.testing.assert_allclose(model.decision_many(xs), [model.decision_one(x) for x in xs])
    assert model.decision_many([]).shape == (0,)
