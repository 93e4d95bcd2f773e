"""Semi-random features in closed form, against the network and scikit-learn's ridge regression."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from support.two_classes import as_dict, blobs

from iln_stream.research.experiments.methods.semi_random_batch import SemiRandomRidge
from iln_stream.research.related import SemiRandomRegressor

X, _ = blobs(300)
Y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])


@pytest.mark.parametrize("power", [0, 1])
def test_is_the_network_of_the_learner(power):
    """With the same weights f is that of SemiRandomRegressor, which has its own tests."""
    model = SemiRandomRidge(12, power).fit(X, Y)
    learner = SemiRandomRegressor((12,), power, seed=0)
    learner.learn_one(as_dict(X[0]), 0.0)
    learner._R, learner._W = [model.R], [model.w.reshape(12, 4).T]
    np.testing.assert_allclose(learner.decision_many(map(as_dict, X)), model.predict(X), atol=1e-9)


def test_weights_are_ridge_regression():
    """w is scikit-learn's ridge solution over the same features."""
    model = SemiRandomRidge(15, penalty=0.2, seed=3).fit(X, Y)
    wanted = Ridge(alpha=0.2, fit_intercept=False).fit(model.features(X), Y).coef_
    np.testing.assert_allclose(model.w, wanted, atol=1e-8)
