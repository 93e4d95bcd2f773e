"""Parallel SGD, against SGDClassifier."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier
from support.two_classes import blobs

from iln_stream.research.experiments.methods.linear_svm import parallel_sgd, sgd

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


def test_too_many_machines():
    """The error names the number of machines."""
    with pytest.raises(ValueError, match="machines = 11 must be from 1 to the 10 examples"):
        parallel_sgd(*blobs(10), LAM, ETA, 11, np.random.default_rng(0))
