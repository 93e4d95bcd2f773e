"""LLSVM, against the Nystroem features and the machines of scikit-learn."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from support.kernel_svm import optimum
from support.two_classes import blobs

from iln_stream.research.experiments.methods.linear_svm import (
    LowRankLinearisedSVM,
    _lloyd,
    hinge_objective,
)

X, Y = blobs(300)
GAMMA = 0.5


def fitted(n_landmarks, k_means=False):
    return LowRankLinearisedSVM(0.01, GAMMA, n_landmarks, k_means).fit(X, Y)


def test_features_have_nystroems_gram_matrix():
    """F F^T is that of scikit-learn's Nystroem on the same landmarks."""
    model = fitted(20)
    theirs = Nystroem(gamma=GAMMA, n_components=20).fit(model.features.landmarks).transform(X)
    F = model.features(X)
    np.testing.assert_allclose(F @ F.T, theirs @ theirs.T, atol=1e-8)


def test_all_landmarks_give_the_kernel_machine():
    """With every example as a landmark, F F^T is the Gram matrix, and the objective is within
    1 % of the kernel machine's."""
    model = fitted(300)
    F = model.features(X)
    np.testing.assert_allclose(F @ F.T, rbf_kernel(X, gamma=GAMMA), atol=1e-6)
    best = optimum(F @ F.T, Y, 0.01)
    assert best * (1 - 1e-6) <= hinge_objective(model.w, F, Y, 0.01) <= 1.01 * best


def test_repeated_landmarks():
    """Landmarks that repeat leave finite features of lower rank."""
    twice = np.vstack([X[:10], X[:10]])
    model = LowRankLinearisedSVM(0.01, GAMMA, 20, k_means=False).fit(twice, np.tile(Y[:10], 2))
    assert model.features(X).shape == (300, 10)
    assert np.isfinite(model.decision(X)).all()


def test_lloyd_is_scikit_learns():
    """From the same start, the means after some steps are those of KMeans."""
    theirs = KMeans(8, init=X[:8], n_init=1, max_iter=5, tol=0.0).fit(X)
    # Its centres after max_iter steps are the means of the labels of the step before.
    np.testing.assert_allclose(_lloyd(X, X[:8], steps=5), theirs.cluster_centers_, atol=1e-9)


def test_k_means_with_an_empty_cluster():
    """A mean that no example is nearest to stays where it is."""
    far = np.vstack([X[:3], np.full((1, 3), 1e3)])
    np.testing.assert_array_equal(_lloyd(X, far, steps=3)[3], far[3])
    assert pytest.approx(X.mean(axis=0)) == _lloyd(X, X[:1], steps=2)[0]
