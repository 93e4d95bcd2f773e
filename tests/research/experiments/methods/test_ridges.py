"""Ridge regression over random features, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from iln_stream.features import GaussianFourier
from iln_stream.research.experiments.methods.ridges import (
    BatchRidge,
    leverage_scores,
    ridge,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 2))
Y = np.sin(2 * X[:, 0]) + 0.1 * RNG.standard_normal(80)
FAMILY = GaussianFourier(0.5)


def model(M, pool=None, seed=0, lam=1e-2):
    return BatchRidge(FAMILY, M, lam, pool, np.sqrt(2), seed).fit(X, Y)


def test_is_ridge_over_the_features():
    """With either sampling f is scikit-learn's Ridge over the same features, alpha = n lam."""
    for pool in (None, 200):
        ours = model(30, pool)
        phi = ours.features(X)
        assert phi.shape == (80, 30)
        theirs = Ridge(alpha=0.8, fit_intercept=False).fit(phi, Y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(phi), atol=1e-8)


def test_leverage_sampling_is_unbiased():
    """The mean of phi(x).phi(x') over 400 samples of one pool, with q by leverage scores, is the
    pool's own estimate, within 5 standard errors."""
    ours = model(10, 100)
    Phi = ours.units(X)
    scores = leverage_scores(Phi, 1e-2)
    products = []
    for seed in range(400):
        ours._choose(scores, np.random.default_rng(seed))
        phi = ours.features(X[:8])
        products.append(phi @ phi.T)
    products = np.array(products)
    room = 5 * products.std(axis=0) / 20
    assert (np.abs(products.mean(axis=0) - Phi[:8] @ Phi[:8].T) <= room).all()
    assert np.ptp(scores) > 0.5 * scores.max()  # the scores are far from uniform


def test_leverage_scores():
    """They are within [0, 1), sum to the effective dimension, and are those of the definition by
    singular values."""
    Phi = model(30).features(X)
    scores = leverage_scores(Phi, 1e-2)
    _, s, V = np.linalg.svd(Phi / np.sqrt(80), full_matrices=False)
    shrink = s**2 / (s**2 + 1e-2)
    np.testing.assert_allclose(scores, (V.T**2) @ shrink, atol=1e-10)
    assert 0 <= scores.min() <= scores.max() < 1
    np.testing.assert_allclose(scores.sum(), shrink.sum())


@pytest.mark.parametrize("M", [5, 30, 70])
def test_is_scikit_learns(M):
    """With fewer and with more features than examples w is scikit-learn's."""
    rng = np.random.default_rng(0)
    Phi, y = rng.standard_normal((30, M)), rng.standard_normal(30)
    theirs = Ridge(alpha=0.7, fit_intercept=False, tol=1e-12).fit(Phi, y).coef_
    np.testing.assert_allclose(ridge(Phi, y, 0.7), theirs, atol=1e-9)
