"""Kernel Pegasos, against the source's algorithm on a Gram matrix."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
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


@pytest.mark.parametrize(("batch", "project"), [(1, False), (6, True)])
def test_is_the_sources_algorithm(batch, project):
    """f takes the values that the algorithm gives on the Gram matrix."""
    X, y = blobs(300)
    lam = 1e-3 if project else 0.01  # so small that the ball binds
    model = learn_all(KernelPegasos(lam, GAMMA, batch, project), X, y)
    expected = gram_pegasos(X, y, lam, batch, project)
    np.testing.assert_allclose(model.decision_many(map(as_dict, X)), expected, rtol=1e-8)
    free = gram_pegasos(X, y, lam, batch, project=False)
    assert (abs(expected - free).max() > 0.01) == project


def test_decision_one_is_decision_many():
    """Inputs one by one and together get the same f, also with names never seen."""
    X, y = blobs(50)
    model = learn_all(KernelPegasos(), X, y)
    xs = [*map(as_dict, X[:5]), {"x0": 1.0, "new": 2.0}]
    np.testing.assert_allclose(model.decision_many(xs), [model.decision_one(x) for x in xs])
    assert model.decision_many([]).shape == (0,)
