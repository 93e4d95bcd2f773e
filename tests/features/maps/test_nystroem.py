"""Nystroem features, against scikit-learn's, and the reservoir's law."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem

from iln_stream.features import GaussianFourier
from iln_stream.research.feature_maps import FromFamily, LandmarkReservoir, NystroemMap

KERNEL = FromFamily(GaussianFourier(0.3), 1, np.sqrt(2)).kernel
X = np.random.default_rng(0).standard_normal((40, 3))


def test_products_are_scikit_learns():
    """phi(X) phi(X)^T is that of scikit-learn's Nystroem on the same landmarks."""
    theirs = Nystroem(gamma=0.3, n_components=10).fit(X[:10]).transform(X)
    phi = NystroemMap(KERNEL, X[:10])
    np.testing.assert_allclose(phi(X) @ phi(X).T, theirs @ theirs.T, atol=1e-9)
    np.testing.assert_allclose(phi(X[3]), phi(X)[3], atol=1e-9)


def test_exact_at_landmarks():
    """With a landmark the product is the kernel; repeated landmarks add no feature."""
    phi = NystroemMap(KERNEL, np.vstack([X[:10], X[:10]]))
    assert phi(X).shape == (40, 10)
    np.testing.assert_allclose(phi(X) @ phi(X[2]), KERNEL(X, X[2]), atol=1e-7)


def test_project_is_the_least_squares_projection():
    """The projected function agrees with f at every landmark of the new map, as a projection in
    the kernel's space does; onto more landmarks it is exact."""
    old, new, more = (NystroemMap(KERNEL, Z) for Z in (X[:8], X[4:12], X[:12]))
    w = np.random.default_rng(1).standard_normal(8)
    f = old(X) @ w
    projected = new(X) @ new.project(old, w)
    np.testing.assert_allclose(projected[4:12], f[4:12], atol=1e-9)
    assert np.abs(projected - f).max() > 1e-3
    np.testing.assert_allclose(more(X) @ more.project(old, w), f, atol=1e-7)


def test_coefficients():
    """w.phi(x) is the kernel expansion with these coefficients."""
    phi = NystroemMap(KERNEL, X[:6])
    w = np.arange(6.0)
    c = phi.coefficients(w)
    expansion = sum(c_j * KERNEL(X, z) for c_j, z in zip(c, X[:6], strict=True))
    np.testing.assert_allclose(phi(X) @ w, expansion, atol=1e-9)


def test_reservoir_is_uniform():
    """Each of 12 points is among 3 kept ones with probability 1/4; over 2,000 runs all frequencies
    are within 5 standard errors of it, and `update` reports each change."""
    counts = np.zeros(12)
    rng = np.random.default_rng(0)
    for _ in range(2000):
        reservoir = LandmarkReservoir(3, rng)
        kept = []
        for t in range(12):
            before = kept
            changed = reservoir.update(np.array([float(t)]))
            kept = reservoir.points()[:, 0].tolist()
            assert changed == (kept != before)
        counts[np.array(kept, dtype=int)] += 1
    assert counts.sum() == 3 * 2000
    assert np.abs(counts / 2000 - 0.25).max() < 5 * np.sqrt(0.25 * 0.75 / 2000)


def test_reservoir_widens():
    """Points of fewer columns have zeros in later ones, and later changes to x do no harm."""
    reservoir = LandmarkReservoir(2, np.random.default_rng(0))
    x = np.array([1.0])
    reservoir.update(x)
    x[0] = 9.0
    reservoir.update(np.array([2.0, 3.0]))
    assert reservoir.points().tolist() == [[1.0, 0.0], [2.0, 3.0]]
    assert reservoir.points(3).shape == (2, 3)
    with pytest.raises(ValueError, match="size is 0"):
        LandmarkReservoir(0, np.random.default_rng(0))
