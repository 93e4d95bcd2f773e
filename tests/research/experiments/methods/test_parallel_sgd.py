"""Parallel SGD, against SGDClassifier and what averaging is for."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC
from support.two_classes import blobs

from iln_stream.research.experiments.methods.linear_svm import hinge_objective, parallel_sgd, sgd

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
    """Each machine gets its own share of all examples, and the weights are averaged; threads give
    the same as one after the other."""
    X, y = blobs(103)
    order = np.random.default_rng(3).permutation(103)[:100].reshape(4, 25)
    expected = np.mean([sgd((X[i], y[i]), LAM, ETA) for i in order], axis=0)
    found = parallel_sgd(X, y, LAM, ETA, 4, np.random.default_rng(3))
    np.testing.assert_array_equal(found, expected)
    with ThreadPoolExecutor(2) as pool:
        found = parallel_sgd(X, y, LAM, ETA, 4, np.random.default_rng(3), pool.map)
    np.testing.assert_array_equal(found, expected)


def test_averaging_reduces_what_the_constant_step_leaves():
    """Ten machines on ten times the data come closer to the optimum than one: within 2 %."""
    X, y = blobs(10_000)
    svc = LinearSVC(loss="hinge", C=1 / (LAM * len(X)), fit_intercept=False, max_iter=100_000)
    best = hinge_objective(svc.fit(X, y).coef_[0], X, y, LAM)
    rng = np.random.default_rng(0)
    one = np.mean([hinge_objective(sgd((X[i : i + 1000], y[i : i + 1000]), LAM, 0.2), X, y, LAM)
                   for i in range(0, 10_000, 1000)])  # fmt: skip
    ten = hinge_objective(parallel_sgd(X, y, LAM, 0.2, 10, rng), X, y, LAM)
    assert best < ten < 1.02 * best
    assert ten - best < (one - best) / 2


def test_too_many_machines():
    """The error names the number of machines."""
    with pytest.raises(ValueError, match="machines = 11 must be from 1 to the 10 examples"):
        parallel_sgd(*blobs(10), LAM, ETA, 11, np.random.default_rng(0))
