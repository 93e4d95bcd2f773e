"""Random kitchen sinks online, against scikit-learn's stochastic gradient on the same features."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from support.two_classes import as_dict, blobs, learn_all

from iln_stream.features import DecisionStumps
from iln_stream.research.feature_maps import OrthogonalFourier
from iln_stream.research.related import KitchenSinksClassifier, KitchenSinksRegressor

X, Y = blobs(300)
COMMON = {"alpha": 0.01, "learning_rate": "constant", "eta0": 0.2, "fit_intercept": False}


def phi_of(model):
    ((_, phi, _),) = model._parts
    return phi


@pytest.mark.parametrize("features", [None, DecisionStumps(), OrthogonalFourier(40, 0.2)])
def test_regression_is_scikit_learns(features):
    """Over the same features f is that of SGDRegressor, for families and for maps."""
    model = KitchenSinksRegressor(features, n_features=40, step=0.2, lam=0.01, seed=3)
    learn_all(model, X, 2.0 * Y)
    phi = phi_of(model)(X)
    theirs = SGDRegressor(**COMMON, shuffle=False, max_iter=1, tol=None).fit(phi, 2.0 * Y)
    found = model.decision_many(map(as_dict, X))
    np.testing.assert_allclose(found, theirs.predict(phi), rtol=1e-9)


@pytest.mark.parametrize(
    ("loss", "theirs"), [("hinge", "hinge"), ("logistic", "log_loss"), ("squared", "squared_error")]
)
def test_classification_is_scikit_learns(loss, theirs):
    """For each loss the decisions, and the logistic loss's probabilities, are SGDClassifier's."""
    model = KitchenSinksClassifier(n_features=40, loss=loss, step=0.2, lam=0.01, seed=3)
    learn_all(model, X, Y)
    phi = phi_of(model)(X)
    other = SGDClassifier(loss=theirs, **COMMON, shuffle=False, max_iter=1, tol=None).fit(phi, Y)
    rows = list(map(as_dict, X))
    np.testing.assert_allclose(model.decision_many(rows), other.decision_function(phi), rtol=1e-9)
    assert model.predict_several(rows) == (other.predict(phi) > 0).tolist()
    if loss == "logistic":
        p = [model.predict_proba_one(x)[True] for x in rows]
        np.testing.assert_allclose(p, other.predict_proba(phi)[:, 1], rtol=1e-9)


def test_decaying_step():
    """With decay_step the second step is 1 / sqrt(2) of the first."""
    model = KitchenSinksRegressor(n_features=9, step=0.4, decay_step=True, lam=0.0, seed=0)
    a, b = as_dict(X[0]), as_dict(X[1])
    model.learn_one(a, 1.0)
    phi = phi_of(model)
    w = 0.4 * phi(X[0])
    model.learn_one(b, 1.0)
    w = w + 0.4 / np.sqrt(2) * (1.0 - w @ phi(X[1])) * phi(X[1])
    assert model.decision_one(a) == pytest.approx(w @ phi(X[0]))


def test_new_columns():
    """New names leave f as it was for events without them; later events teach the new map; the
    number of maps grows like the logarithm of the number of names."""
    model = learn_all(KitchenSinksRegressor(n_features=300, step=0.5, seed=0), X, X[:, 0])
    before = model.decision_one(as_dict(X[0]))
    model._draw(4)
    assert model.decision_one(as_dict(X[0])) == before
    for x in X:
        model.learn_one({**as_dict(x), "z": 2.0}, 5.0)
    assert model.decision_one({**as_dict(X[0]), "z": 2.0}) == pytest.approx(5.0, abs=0.5)
    for j in range(90):
        model.learn_one({f"new{j}": 1.0}, 0.0)
    assert len(model._parts) <= 6
    assert model.n_psi == 300 * len(model._parts)


def test_bad_arguments():
    """The error about an argument names it."""
    with pytest.raises(ValueError, match="features = 'cos' must be a family"):
        KitchenSinksRegressor("cos")
    with pytest.raises(ValueError, match=r"step \* lam = 1.0 must be in"):
        KitchenSinksRegressor(step=0.5, lam=2.0)
    with pytest.raises(ValueError, match="n_features = 0"):
        KitchenSinksClassifier(n_features=0)
    with pytest.raises(ValueError, match="loss = 'zero' must be one of hinge, logistic, squared"):
        KitchenSinksClassifier(loss="zero")
