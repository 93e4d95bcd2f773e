"""Gradient steps over Nystroem features, against scikit-learn's on the same landmarks."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import SGDRegressor
from support.two_classes import as_dict, blobs, learn_all

from iln_stream.research.related import NystroemClassifier, NystroemRegressor

X, Y = blobs(300)


def test_fixed_landmarks_give_scikit_learns_recursion():
    """While the reservoir stays as it is, f follows SGDRegressor over scikit-learn's Nystroem
    features of the same landmarks, from the same f."""
    model = learn_all(NystroemRegressor(8, gamma=0.3, step=0.2, lam=0.01, seed=0), X, Y)
    theirs = Nystroem(gamma=0.3, n_components=8).fit(model._phi.landmarks)
    phi = theirs.transform(X)
    f = model.decision_many(map(as_dict, X))
    w = np.linalg.lstsq(phi, f, rcond=None)[0]
    np.testing.assert_allclose(phi @ w, f, atol=1e-8)
    model._reservoir.update = lambda row: False  # no change of landmarks from here on
    sgd = SGDRegressor(
        alpha=0.01, learning_rate="constant", eta0=0.2, fit_intercept=False, shuffle=False
    )
    sgd.set_params(max_iter=1, tol=None).fit(phi, Y, coef_init=w)
    learn_all(model, X, Y)
    np.testing.assert_allclose(model.decision_many(map(as_dict, X)), sgd.predict(phi), atol=1e-7)


def test_swapped_landmark_projects_f():
    """Right after a swap, f is the same at every landmark that was kept, before the next step."""
    model = NystroemClassifier(6, gamma=0.3, seed=0)
    learn_all(model, X[:50], Y[:50])
    before = model._phi
    f = model.decision_many(map(as_dict, before.landmarks))
    model._reservoir._rows[2] = X[60]
    model._take_landmarks(3)
    kept = [0, 1, 3, 4, 5]
    after = model.decision_many(map(as_dict, before.landmarks))
    np.testing.assert_allclose(after[kept], f[kept], atol=1e-8)
    assert abs(after[2] - f[2]) > 1e-4


def test_new_columns():
    """A new column makes points more distant in the kernel, whether or not a landmark has it."""
    model = learn_all(NystroemClassifier(5, gamma=0.3, seed=0), X[:50], Y[:50])
    f = model.decision_one(as_dict(X[0]))
    longer = {**as_dict(X[0]), "z": 1.0}
    model._columns.learn(longer)
    assert model.decision_one(longer) == pytest.approx(f * np.exp(-0.3))
    for _ in range(60):
        model.learn_one(longer, True)
    assert model._phi.landmarks.shape[1] == 4
    assert model.predict_one(longer)
