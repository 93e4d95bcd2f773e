"""Ridge regression, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from iln_stream.research.experiments.methods.ridges import ridge


@pytest.mark.parametrize("M", [5, 30, 70])
def test_is_scikit_learns(M):
    """With fewer and with more features than examples w is scikit-learn's."""
    rng = np.random.default_rng(0)
    Phi, y = rng.standard_normal((30, M)), rng.standard_normal(30)
    theirs = Ridge(alpha=0.7, fit_intercept=False, tol=1e-12).fit(Phi, y).coef_
    np.testing.assert_allclose(ridge(Phi, y, 0.7), theirs, atol=1e-9)
