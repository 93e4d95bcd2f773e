"""Networks by gradient steps, against finite differences and scikit-learn."""

import numpy as np
import pytest
from sklearn.neural_network import MLPRegressor
from support.two_classes import as_dict, blobs

from iln_stream.research.experiments.methods.gated_network import GatedNetwork
from iln_stream.research.related import SemiRandomRegressor

X, _ = blobs(600)
Y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])
TRAINING = X[:400], Y[:400], X[400:], Y[400:]


@pytest.mark.parametrize(("hidden", "random"), [((6,), True), ((6, 5), False), ((6, 5, 4), True)])
def test_gradient(hidden, random):
    """The gradient in all weights is that of finite differences."""
    network = GatedNetwork(hidden, random, passes=1).fit(*TRAINING)
    x, y = np.column_stack([np.ones(9), X[:9]]), Y[:9]
    found = network.gradient(x, y, network._gates(x))
    for w, gradient in zip(network.weights, found, strict=True):
        for index in np.ndindex(w.shape):
            kept, losses = w[index], []
            for change in (1e-6, -1e-6):
                w[index] = kept + change
                losses.append(np.mean((network.predict(X[:9]) - y) ** 2) / 2)
            w[index] = kept
            slope = (losses[0] - losses[1]) / 2e-6
            assert gradient[index] == pytest.approx(slope, rel=1e-4, abs=1e-7)


def test_trained_gates_are_rectified_linear_units():
    """f is scikit-learn's network of rectified linear units with the same weights."""
    network = GatedNetwork((7, 5), random=False, passes=2).fit(*TRAINING)
    theirs = MLPRegressor(hidden_layer_sizes=(7, 5), max_iter=1, solver="lbfgs").fit(X, Y)
    first, second, v = network.weights
    theirs.coefs_ = [first[1:], second, v[:, None]]
    theirs.intercepts_ = [first[0], np.zeros(5), np.zeros(1)]
    np.testing.assert_allclose(network.predict(X), theirs.predict(X), atol=1e-9)


def test_random_gates_are_semi_random_units():
    """With output weights of 1, f is SemiRandomRegressor's with the same random weights."""
    network = GatedNetwork((7, 5), random=True, passes=2).fit(*TRAINING)
    network.weights[-1][:] = 5**-0.5
    learner = SemiRandomRegressor((7, 5), seed=0)
    learner.learn_one(as_dict(X[0]), 0.0)
    learner._R, learner._W = network.R, network.weights[:-1]
    found = learner.decision_many(map(as_dict, X))
    np.testing.assert_allclose(found, network.predict(X), atol=1e-9)


def test_keeps_the_best_on_validation_data():
    """The error of the weights kept is the one reported, and f learns: a tenth of the variance."""
    network = GatedNetwork((30,), random=False, step=0.03, passes=60).fit(*TRAINING)
    found = np.mean((network.predict(X[400:]) - Y[400:]) ** 2)
    assert found == pytest.approx(network.validation_error)
    assert found < 0.1 * Y.var()
