"""Blocks; tests/learners/estimators/test_contract.py has their law."""

import numpy as np
import pytest
from scipy import stats
from support.iterates import filled, squared_norm

from iln_stream.features import DecisionStumps, GaussianFourier
from iln_stream.learners.estimators import Block


@pytest.mark.parametrize("family", [GaussianFourier(0.3), DecisionStumps()], ids=repr)
@pytest.mark.parametrize(("R", "S"), [(16, 1), (16, 8), (64, 32)])
def test_variance_is_within_its_bound(family, R, S):
    """Var[E] <= (q ||alpha||_1^2 / S + ||f||^2) / R, from 500 events (chi-square at 1e-6)."""
    f, x = filled(Block(R, S), family)
    estimates = [f.estimate(x, t) for t in range(500)]
    bound = (family.q * f.alpha_l1**2 / S + squared_norm(f, family)) / R
    variance = np.var([e.value for e in estimates], ddof=1)
    assert variance <= bound * stats.chi2.ppf(1 - 1e-6, df=499) / 499
    assert {e.draws for e in estimates} == {R}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((1,), "features = 1 must be at least 2"), ((8, 0), "points = 0 must be at least 1")],
)
def test_sizes_are_checked(arguments, message):
    """A block of one unit has no spread, and one without points estimates nothing."""
    with pytest.raises(ValueError, match=message):
        Block(*arguments)
