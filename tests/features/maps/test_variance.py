"""Variances of the maps' kernel estimates, against closed forms."""

import numpy as np

from iln_stream.features import GaussianFourier
from iln_stream.research.feature_maps import (
    Fastfood,
    FromFamily,
    OrthogonalFourier,
    RandomBinning,
    SineCosine,
)

X = np.array([[0.0] * 8, [0.5] * 8])
GAMMA, M = 0.3, 16
K = np.exp(-GAMMA * 2.0)  # ||x - x'||^2 = 2


def estimates(feature_map, n=4000):
    rng = np.random.default_rng(3)
    phis = (feature_map.draw(8, rng)(X) for _ in range(n))
    return np.array([phi[0] @ phi[1] for phi in phis])


def test_variance_of_fourier_features():
    """M cosines have variance (1 + k(2 z) / 2 - k^2) / M, and sine-cosine features
    (1 + k(2 z) - 2 k^2) / M (Sutherland & Schneider 2015); sample variances are within 10 %."""
    double = K**4  # k at twice the distance
    cosines = estimates(FromFamily(GaussianFourier(GAMMA), M, np.sqrt(2))).var()
    both = estimates(SineCosine(GaussianFourier(GAMMA), M)).var()
    np.testing.assert_allclose(cosines, (1 + double / 2 - K**2) / M, rtol=0.1)
    np.testing.assert_allclose(both, (1 + double - 2 * K**2) / M, rtol=0.1)


def test_orthogonal_frequencies_vary_less():
    """Eight orthogonal frequencies have less than 60 % of the variance of independent ones."""
    independent = estimates(SineCosine(GaussianFourier(GAMMA), M)).var()
    assert estimates(OrthogonalFourier(M, GAMMA)).var() < 0.6 * independent


def test_fastfoods_frequencies_are_gaussian():
    """Each entry of V has mean 0 and variance 2 gamma, and rows have the lengths of Gaussian
    vectors, E ||v||^4 = (2 gamma)^2 d (d + 2), within 5 standard errors over 4,000 rows."""
    rng = np.random.default_rng(0)
    step = 1e-6  # sin(v.x) at x = step e_j reads v_j
    rows = []
    for _ in range(500):
        phi = Fastfood(16, GAMMA).draw(8, rng)
        rows.append(np.sqrt(8) * phi(step * np.eye(8))[:, 8:].T / step)
    V = np.concatenate(rows)
    scale = 2 * GAMMA
    assert np.abs(V.mean(axis=0)).max() < 5 * np.sqrt(scale / 500)
    # The rows of a block share one direction's parts, so its 8 rows count as one.
    assert np.abs((V**2).mean(axis=0) - scale).max() < 5 * scale * np.sqrt(2 / 500)
    fourth = np.vecdot(V, V) ** 2
    assert abs(fourth.mean() - scale**2 * 80) < 5 * fourth.std() / np.sqrt(500)


def test_bins_are_shared_with_the_kernels_probability():
    """A grid's estimate is 1 with probability k, and else +-1 with probability 1 / buckets: its
    variance is k (1 - k) + (1 - k) / buckets, within 10 % with many buckets and with two."""
    x = np.array([[0.0] * 8, [0.1] * 8])
    rng, k = np.random.default_rng(0), np.exp(-0.8)

    def variance(buckets):
        phis = (RandomBinning(4, buckets, 1.0).draw(8, rng)(x) for _ in range(3000))
        return np.var([phi[0] @ phi[1] for phi in phis])

    for buckets in (64, 2):
        exact = (k * (1 - k) + (1 - k) / buckets) / 4
        np.testing.assert_allclose(variance(buckets), exact, rtol=0.1)


def test_orthogonal_frequencies_have_no_preferred_direction():
    """Each entry of omega has mean 0, as under the uniform law over orthogonal matrices, within 5
    standard errors over 1,000 maps; the factors of a QR decomposition alone do not."""
    rng = np.random.default_rng(0)
    omega = np.array([OrthogonalFourier(6, GAMMA).draw(3, rng).omega for _ in range(1000)])
    assert (np.abs(omega.mean(axis=0)) < 5 * omega.std(axis=0) / np.sqrt(1000)).all()
