"""Linear machines by dual coordinate descent, parallel SGD and LLSVM, against scikit-learn."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.linear_model import SGDClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import LinearSVC
from support.kernel_svm import optimum
from support.two_classes import blobs

from iln_stream.research.experiments.methods.linear_svm import (
    LowRankLinearisedSVM,
    _lloyd,
    hinge_objective,
    linear_svm,
    parallel_sgd,
    sgd,
)


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


X, Y = blobs(300)
GAMMA = 0.5


def test_all_landmarks_give_the_kernel_machine():
    """With every example as a landmark, F F^T is the Gram matrix, and the objective is within
    1 % of the kernel machine's."""
    model = LowRankLinearisedSVM(0.01, GAMMA, 300).fit(X, Y)
    F = model.features(X)
    np.testing.assert_allclose(F @ F.T, rbf_kernel(X, gamma=GAMMA), atol=1e-6)
    best = optimum(F @ F.T, Y, 0.01)
    assert best * (1 - 1e-6) <= hinge_objective(model.w, F, Y, 0.01) <= 1.01 * best


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


LAM, ETA = 0.01, 0.05


def test_one_machine_is_scikit_learns_sgd():
    """One pass in order takes the steps of SGDClassifier with a constant step."""
    X, y = blobs(200)
    theirs = SGDClassifier(
        alpha=LAM, eta0=ETA, learning_rate="constant", fit_intercept=False, shuffle=False
    )
    theirs.max_iter, theirs.tol = 1, None
    np.testing.assert_allclose(sgd((X, y), LAM, ETA), theirs.fit(X, y).coef_[0], rtol=1e-9)


def test_is_the_mean_of_the_shards():
    """Each machine gets its own share of all examples, and the weights are averaged."""
    X, y = blobs(103)
    order = np.random.default_rng(3).permutation(103)[:100].reshape(4, 25)
    expected = np.mean([sgd((X[i], y[i]), LAM, ETA) for i in order], axis=0)
    found = parallel_sgd(X, y, LAM, ETA, 4, np.random.default_rng(3))
    np.testing.assert_array_equal(found, expected)
