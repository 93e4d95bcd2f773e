import math

import numpy as np
import pytest

from iln_stream.features import (
    AffineFeatures,
    AffineWeights,
    ArcCosine,
    CauchyFourier,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    Sigmoid,
    Tanh,
    closed_form,
)
from iln_stream.learners.estimators.pool import AffineUnits, ridge_units

KEY = np.array([3, 4], dtype=np.uint64)


class SignedSums(AffineFeatures):
    """A family of a user's own: tanh(omega.x + b), the entries of omega +-1, b ~ U[-1, 1)."""

    activation = "tanh"
    q = 1.0

    def draw(self, n, d, rng):
        return AffineWeights(rng.choice([-1.0, 1.0], (n, d)), rng.uniform(-1.0, 1.0, n))


FAMILIES = [
    GaussianFourier(),
    LaplacianFourier(0.2),
    CauchyFourier(),
    Erf(),
    Tanh(),
    Sigmoid(),
    ArcCosine(),
    SignedSums(),
]
families = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)
few_families = pytest.mark.parametrize(
    "family", [CauchyFourier(), ArcCosine(), SignedSums()], ids=lambda family: type(family).__name__
)


def psi_at(units, R, x):
    """The R values psi(x; w) that one point adds to theta."""
    units.mean_and_square(np.zeros(R), x)
    return units.psi.astype(float)


def terms_at(units, R, x):
    """The R values sqrt(share) psi(x; w): mean products of two points estimate the kernel."""
    shares = R * units.layer(np.ones(R), len(x)).weights
    return psi_at(units, R, x) * np.sqrt(shares)


@families
@pytest.mark.parametrize("d_first", [4, 1])
def test_law(family, d_first):
    """Mean products over many units are the family's, also when columns come later (5 s.e.).

    The law of entries is that of the first number of columns; ArcCosine's directions are those of
    the sphere in all dimensions that there are.
    """
    R, d = 100_000, 4
    rng = np.random.default_rng(5)
    X = rng.standard_normal((3, d))
    units = ridge_units(family, d_first, KEY)
    psi = [terms_at(units, R, x) for x in X]
    told = {
        GaussianFourier: lambda: GaussianFourier(1 / d_first),
        CauchyFourier: lambda: CauchyFourier(1 / d_first),
        ArcCosine: lambda: ArcCosine(2.0 * math.sqrt(d_first)),
        Erf: lambda: Erf(2.0 * math.sqrt(d / d_first)),
        Tanh: lambda: Tanh(2.0 * math.sqrt(d / d_first)),
        Sigmoid: lambda: Sigmoid(4.0 * math.sqrt(d / d_first)),
    }.get(type(family), lambda: family)()
    kernel = closed_form(told)
    w = told.draw(R, d, rng)
    for i, j in ((0, 0), (0, 1), (1, 2)):
        products = psi[i] * psi[j]
        variance = products.var() / R
        if kernel is not None:
            expected = kernel(X[i : i + 1], X[j])[0]
        else:
            sampled = told.psi(X[i], w) * told.psi(X[j], w)
            expected, variance = sampled.mean(), variance + sampled.var() / R
        assert abs(products.mean() - expected) < 5 * math.sqrt(variance)


@few_families
def test_columns_and_units_may_come_in_any_order(family):
    """A unit's entries don't depend on when, or with how many others, they were drawn."""
    at_once, bit_by_bit = (ridge_units(family, 2, KEY) for _ in range(2))
    for R, d in ((3, 1), (3, 5), (300, 2), (300, 7), (600, 4), (5, 9)):
        bit_by_bit.mean_and_square(np.zeros(R), np.ones(d))
    first, second = (vars(units.layer(np.ones(600), 9)) for units in (at_once, bit_by_bit))
    for name in ("omega", "b", "weights"):
        np.testing.assert_array_equal(first[name], second[name])


@few_families
def test_a_column_that_is_0_changes_nothing_but_a_spheres_dimension(family):
    """Old points' psi does not change when a column is added, so theta stays correct."""
    units, x = ridge_units(family, 2, KEY), np.array([0.4, -1.2])
    psi = psi_at(units, 50, x)
    np.testing.assert_array_equal(psi_at(units, 50, np.append(x, [0.0, 0.0])), psi)


@few_families
def test_entries_are_independent_of_each_other(family):
    """No two entries of omega, b share randomness: neither within a lot nor across lots.

    Signs of entries, 45 pairs at 5 standard errors.
    """
    units = ridge_units(family, 3, KEY)
    layer = units.layer(np.ones(20_000), 9)
    b = layer.b - (math.pi if family.activation == "cos" else 0.0)
    signs = np.sign(np.column_stack([layer.omega, b]))
    correlations = signs.T @ signs / len(signs)
    assert np.abs(correlations - np.eye(10)).max() < 5 / math.sqrt(len(signs))
    # Neighbouring lots of units don't repeat each other either.
    lots = signs[: 256 * 78].reshape(78, -1)
    assert len(np.unique(lots, axis=0)) == 78


@families
def test_huge_inputs_give_finite_values(family):
    """Phases of 1e15 and more mean nothing, but psi stays within its bounds."""
    units = ridge_units(family, 5, KEY)
    terms = terms_at(units, 1000, np.full(5, 1e15))
    assert np.isfinite(terms).all()
    assert np.abs(terms).max() <= 1.0 + 1e-6


def test_frequencies_beyond_single_precision_are_finite():
    """Cauchy frequencies as large as gamma allows still give cosines."""
    units = ridge_units(LaplacianFourier(1e30), 3, KEY)
    for x in (np.ones(3), np.full(3, 1e15)):
        psi = psi_at(units, 10_000, x)
        assert np.isfinite(psi).all()
        assert np.abs(psi).max() <= 1.0


def test_a_sphere_of_ones_own_is_drawn_by_its_draw():
    """A subclass of ArcCosine with another law is not given ArcCosine's."""

    class Upwards(ArcCosine):
        def draw(self, n, d, rng):
            omega, b = super().draw(n, d, rng)
            return AffineWeights(omega, abs(b))

    units = ridge_units(Upwards(), 2, KEY)
    assert type(units) is AffineUnits
    assert (units.layer(np.ones(100), 2).b >= 0).all()
