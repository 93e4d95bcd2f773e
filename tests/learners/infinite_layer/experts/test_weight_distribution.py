import math

import numpy as np
import pytest

from iln_stream.learners.infinite_layer.experts.rls_bank import WeightDistribution, blended

SIZE = 20_000


def test_dense_units_have_the_covariance_that_was_learned():
    """Over 20,000 units the covariance of w is 2 g C / d, to 5 standard errors."""
    agop = np.array([[4.0, 1.0], [1.0, 1.0]])
    units = WeightDistribution("relu", 0.7, sparse=False).draw(
        SIZE, agop, 0, np.random.default_rng(0)
    )
    wanted = 2 * 0.7 / 2 * blended(agop)
    error = 5.0 * math.sqrt(2.0 / SIZE) * wanted.max()
    assert np.cov(units.omega) == pytest.approx(wanted, abs=error)


def test_sparse_units_use_few_inputs_by_their_relevance():
    """Units use 2 and 4 inputs in turn; an input that matters a hundred times more, at most."""
    agop = np.diag([100.0, *[1.0] * 9])
    units = WeightDistribution("cos", 3.0, sparse=True).draw(
        SIZE, agop, 0, np.random.default_rng(0)
    )
    used = units.omega != 0.0
    assert set(used[:, ::2].sum(axis=0)) == {2}
    assert set(used[:, 1::2].sum(axis=0)) == {4}
    shares = used.mean(axis=1)
    assert shares[0] > 0.6 > 0.4 > shares[1:].max()


@pytest.mark.parametrize("recent", [False, True])
def test_only_a_recent_prior_uses_lags(recent):
    """The first entries of v are last targets, and only a prior with `recent` uses them."""
    prior = WeightDistribution("relu", 1.0, sparse=False, recent=recent)
    units = prior.draw(50, np.eye(5), 2, np.random.default_rng(0))
    assert (units.omega[:2] != 0.0).all() == recent
    assert (units.omega[2:] != 0.0).all()
