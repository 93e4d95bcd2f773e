"""The attributes of ridge families are enough to evaluate them without special support."""

import math

import numpy as np
import pytest
from scipy import special, stats

from iln_stream.features import (
    AffineWeights,
    ArcCosine,
    CauchyFourier,
    DecisionStumps,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    Mixture,
    RandomNetwork,
    Sigmoid,
    Tanh,
    UniformCoordinates,
    as_gaussian_ridges,
    as_ridges,
)

GAUSSIAN = [GaussianFourier(0.3), Erf(), Tanh(0.7, 2.0), Sigmoid()]
OTHERS = [LaplacianFourier(), CauchyFourier(), ArcCosine()]

SIGMA = {
    "cos": np.cos,
    "erf": special.erf,
    "tanh": np.tanh,
    "sigmoid": special.expit,
    "relu": lambda z: np.maximum(z, 0.0),
}


@pytest.mark.parametrize("family", GAUSSIAN + OTHERS, ids=repr)
@pytest.mark.parametrize("d", [0, 5])
def test_psi_is_the_activation_of_the_ridge(family, d):
    """A kernel that knows the activation's name computes the same psi, row by row and at once."""
    ridges = as_ridges(family)
    assert ridges is family
    w = family.draw(50, d, np.random.default_rng(0))
    assert isinstance(w, AffineWeights)
    assert w.omega.shape == (50, d)
    assert w.omega.flags.c_contiguous
    assert w.b.shape == (50,)
    assert w.omega.dtype == w.b.dtype == np.float64
    X = 3.0 * np.random.default_rng(1).standard_normal((50, d))
    sigma = SIGMA[ridges.activation]
    expected = sigma((w.omega * ridges.inputs(X)).sum(axis=1) + w.b)
    np.testing.assert_allclose(family.psi(X, w), expected, rtol=0, atol=1e-12)
    expected = sigma(w.omega @ ridges.inputs(X[0]) + w.b)
    np.testing.assert_allclose(family.psi(X[0], w), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("family", GAUSSIAN, ids=repr)
def test_draws_follow_the_law_that_is_told(family):
    """omega ~ N(0, scale(d)^2 I) and b ~ b_law, each by a test at the 1e-6 level."""
    gaussian, d = as_gaussian_ridges(family), 7
    w = family.draw(20_000, d, np.random.default_rng(0))
    entries = stats.norm(scale=gaussian.scale(d))
    assert stats.kstest(w.omega.ravel(), entries.cdf).pvalue > 1e-6
    correlations = np.corrcoef(np.column_stack([w.omega, w.b]), rowvar=False)
    assert np.abs(correlations - np.eye(d + 1)).max() < 5 / math.sqrt(20_000)
    name, scale = gaussian.b_law
    law = {"normal": stats.norm(scale=scale), "uniform": stats.uniform(scale=scale)}[name]
    assert stats.kstest(w.b, law.cdf).pvalue > 1e-6
    assert (
        stats.kstest(gaussian.b_law.draw(20_000, np.random.default_rng(1)), law.cdf).pvalue > 1e-6
    )


@pytest.mark.parametrize("family", OTHERS, ids=repr)
def test_only_gaussian_ridges_are_sampled_by_their_covariances(family):
    """Other laws aren't; and a family whose units are no ridges is evaluated by its own psi."""
    assert as_gaussian_ridges(family) is None
    others = DecisionStumps(), UniformCoordinates(), RandomNetwork(), Mixture((family,))
    assert [as_ridges(other) for other in others] == [None] * 4
    assert [as_gaussian_ridges(other) for other in others] == [None] * 4


def test_a_psi_of_ones_own_is_no_ridge():
    """A subclass that changes psi is not evaluated by its inherited activation."""

    class Squared(GaussianFourier):
        def psi(self, x, w):
            return super().psi(x, w) ** 2

    assert as_ridges(Squared()) is None
    assert as_gaussian_ridges(Squared()) is None


def test_a_draw_of_ones_own_is_not_gaussian():
    """A subclass that changes the law keeps the ridges, but is not sampled by the old law."""

    class Grid(GaussianFourier):
        def draw(self, n, d, rng):
            return super().draw(n, d, rng)._replace(b=np.zeros(n))

    assert as_ridges(Grid()) is not None
    assert as_gaussian_ridges(Grid()) is None
