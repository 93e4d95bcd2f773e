"""What holds for every feature map: shapes, repeatable draws, unbiased kernels."""

import math
import pickle

import numpy as np
import pytest

from iln_stream.features import (
    ArcCosine,
    CauchyFourier,
    DecisionStumps,
    GaussianFourier,
    LaplacianFourier,
)
from iln_stream.research.feature_maps import (
    Fastfood,
    FromFamily,
    OrthogonalFourier,
    RandomBinning,
    SineCosine,
)

FAMILIES = (GaussianFourier(0.3), LaplacianFourier(0.3), CauchyFourier(0.3))
MAPS = [
    *(FromFamily(family, 12, math.sqrt(2)) for family in FAMILIES),
    SineCosine(LaplacianFourier(0.3), 12),
    FromFamily(ArcCosine(radius=2.0), 12),
    FromFamily(DecisionStumps(), 12),
    OrthogonalFourier(12),
    Fastfood(12, 0.3),
    RandomBinning(4, 3),
]
D = 5
X = np.vstack([np.zeros(D), 0.7 * np.random.default_rng(7).standard_normal((5, D))])


@pytest.fixture(params=MAPS, ids=repr)
def feature_map(request):
    return request.param


def test_unbiased(feature_map):
    """The mean of phi(x).phi(x') over 3,000 maps is the closed-form kernel, within 5 standard
    errors: a sound map fails for one of its 36 pairs with a probability below 3e-5."""
    rng = np.random.default_rng(1)
    phis = (feature_map.draw(D, rng)(X) for _ in range(3000))
    products = np.array([phi @ phi.T for phi in phis])
    exact = np.array([feature_map.kernel(X, x) for x in X])
    room = 5 * products.std(axis=0) / math.sqrt(len(products)) + 1e-9
    assert (np.abs(products.mean(axis=0) - exact) <= room).all()
    assert np.ptp(exact) > 0.1 * exact.max()  # the points differ for the kernel


def test_one_point_and_many(feature_map):
    """A point has the same 12 features alone and among others, and no points have none."""
    phi = feature_map.draw(D, np.random.default_rng(0))
    assert phi(X).shape == (len(X), 12)
    np.testing.assert_allclose(np.array([phi(x) for x in X]), phi(X), atol=1e-12)
    assert phi(X[:0]).shape == (0, 12)


def test_draws_depend_on_the_rng_alone(feature_map):
    """The same rng gives the same map, another one another map; a pickled map is the same."""
    first, again, other = (feature_map.draw(D, np.random.default_rng(s))(X) for s in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()
    copy = pickle.loads(pickle.dumps(feature_map.draw(D, np.random.default_rng(0))))
    assert (copy(X) == first).all()


@pytest.mark.parametrize("d", [1, 13])
def test_any_number_of_columns(feature_map, d):
    """Maps have 12 finite features for any number of columns, of small and of huge inputs."""
    phi = feature_map.draw(d, np.random.default_rng(0))
    for size in (1.0, 1e15):
        values = phi(np.full(d, size))
        assert values.shape == (12,)
        assert np.isfinite(values).all()


def test_cost():
    """n_psi counts the evaluations of units for one point; binning finds one bin a grid."""
    rng = np.random.default_rng(0)
    costs = [feature_map.draw(D, rng).n_psi for feature_map in MAPS]
    assert costs == [12] * 8 + [4]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FromFamily(GaussianFourier(), 0), "n_features is 0"),
        (lambda: SineCosine(GaussianFourier(), 5), "n_features is 5: it must be even"),
        (lambda: SineCosine(ArcCosine(), 4), "family is ArcCosine.*GaussianFourier"),
        (lambda: Fastfood(4, gamma=-1.0), "gamma is -1.0"),
        (lambda: RandomBinning(0), "n_grids is 0"),
    ],
)
def test_bad_arguments(make, message):
    """The error names the argument and what it must be."""
    with pytest.raises(ValueError, match=message):
        make()
