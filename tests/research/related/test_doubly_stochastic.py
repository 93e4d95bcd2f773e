"""Doubly stochastic gradients, against the source's loop."""

import math

import numpy as np
import pytest
from support.two_classes import as_dict, blobs, learn_all

from iln_stream.features import DecisionStumps, GaussianFourier
from iln_stream.research.related import DoublyStochasticClassifier, DoublyStochasticRegressor

X, Y = blobs(700)


def derivative(loss, f, y):
    return {
        "squared": f - y,
        "hinge": -y * (y * f < 1),
        "logistic": -y / (1 + math.exp(y * f)),
    }[loss]


def stored_features(model, t):
    """psi(X; w_1 .. w_t) with all features kept: what the learner draws again and again."""
    blocks = [model._psi(k, X) for k in range(len(model._blocks))]
    used = [psi[:, : len(c)] for psi, (_, c) in zip(blocks, model._blocks, strict=True)]
    return np.concatenate(used, axis=1)[:, :t]


@pytest.mark.parametrize(("loss", "draws"), [("squared", 1), ("hinge", 3), ("logistic", 1)])
def test_is_the_sources_algorithm(loss, draws):
    """After 700 events, so over several blocks, f is that of Algorithms 1 and 2 with all features
    stored."""
    theta, nu = 0.8, 0.05
    model = DoublyStochasticClassifier(
        GaussianFourier(0.3), draws=draws, loss=loss, step=theta, lam=nu, seed=2
    )
    learn_all(model, X, Y)
    assert len(model._blocks) > 2
    psi = stored_features(model, 700 * draws)
    assert psi.shape == (700, 700 * draws)
    alpha = np.zeros(700 * draws)
    for t, y in enumerate(Y):
        new = slice(t * draws, (t + 1) * draws)
        gamma = theta / (1 + nu * theta * t)
        slope = derivative(loss, psi[t] @ alpha, y)
        alpha *= 1 - gamma * nu
        alpha[new] = -gamma * slope * psi[t, new] / draws
    np.testing.assert_allclose(model.decision_many(map(as_dict, X)), psi @ alpha, atol=1e-9)


def test_features_are_independent():
    """No feature repeats over blocks, and their products estimate the family's kernel."""
    family = GaussianFourier(0.3)
    model = learn_all(DoublyStochasticRegressor(family, draws=64, seed=0), X[:200], np.ones(200))
    psi = stored_features(model, 200 * 64)
    assert len(np.unique(psi[0])) == 200 * 64
    found = psi[:10] @ psi[0] / psi.shape[1]
    np.testing.assert_allclose(found, family.kernel(X[:10], X[0]), atol=0.02)


def test_stores_no_features():
    """A pickle holds the coefficients, some 9 bytes a step, and no feature."""
    import pickle

    model = learn_all(DoublyStochasticClassifier(seed=0), X, Y)
    assert model.n_psi == 700
    assert len(pickle.dumps(model)) < 700 * 10 + 4000


@pytest.mark.thorough
def test_new_columns():
    """New names leave f as it was for events without them; units of other families work, too."""
    model = DoublyStochasticClassifier(DecisionStumps(), draws=50, seed=0)
    learn_all(model, X[:100], Y[:100])
    before = [b[1][:] for b in model._blocks]
    model.learn_one({**as_dict(X[0]), "z": 1.0}, True)
    assert [d for d, _ in model._blocks][-2:] == [3, 4]
    assert [len(c) for _, c in model._blocks[:-1]] == [len(c) for c in before]
    learned = [({**as_dict(x), "z": z}, z > 0) for x in X[:150] for z in (1.0, -1.0)]
    for x, y in learned:
        model.learn_one(x, y)
    assert np.mean([model.predict_one(x) == y for x, y in learned]) > 0.8
