"""Full sums; tests/learners/estimators/test_contract.py has their law."""

import numpy as np
import pytest
from scipy import stats
from support.iterates import filled, squared_norm

from iln_stream.features import ArcCosine, DecisionStumps, GaussianFourier, Tanh
from iln_stream.learners.estimators import Estimate, Full


@pytest.mark.parametrize(
    "family", [GaussianFourier(0.3), Tanh(), ArcCosine(), DecisionStumps()], ids=repr
)
@pytest.mark.parametrize("n", [10, 3_000])
def test_it_is_the_sum_over_the_whole_support(family, n):
    """E is the mean of theta_r psi(x; w_r) over the event's units, in products of any size."""
    f, x = filled(Full(16), family, n=n)
    rows, alpha = f.support.rows(4), f.support.alpha
    w = family.draw(16, 4, f.rng(7))
    theta = sum(a * family.psi(x_i, w) for a, x_i in zip(alpha, rows, strict=True))
    expected = Estimate.from_terms(theta * family.psi(x, w))
    assert f.estimate(x, 7) == pytest.approx(expected, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("family", [GaussianFourier(0.3), DecisionStumps()], ids=repr)
def test_variance_is_within_its_bound(family):
    """Var[E] <= ||f||^2 / R, whatever ||alpha||_1, from 500 events (chi-square at 1e-6)."""
    f, x = filled(Full(16), family)
    f.append(x, 50.0)
    f.append(x, -50.0)  # cancels in f, not in ||alpha||_1
    variance = np.var([f.estimate(x, t).value for t in range(500)], ddof=1)
    bound = squared_norm(f, family) / 16
    assert variance <= bound * stats.chi2.ppf(1 - 1e-6, df=499) / 499
    assert bound < f.alpha_l1**2 / 16 / 100


def test_size_is_checked():
    """One unit has no spread from which to estimate the error."""
    with pytest.raises(ValueError, match="features = 1 must be at least 2"):
        Full(1)
