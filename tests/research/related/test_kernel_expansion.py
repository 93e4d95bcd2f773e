"""The kernel expansion, against sums written out."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from iln_stream.research.related.kernel_expansion import KernelExpansion

GAMMA = 0.3
RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4))
C = RNG.standard_normal(30)


def expansion(X=X, C=C):
    f = KernelExpansion(GAMMA)
    for x, c in zip(X, C, strict=True):
        f.append(x, c)
    return f


def test_value():
    """f(x) and f of many rows are sums over the Gram matrix."""
    f, Z = expansion(), RNG.standard_normal((7, 4))
    expected = rbf_kernel(Z, X, gamma=GAMMA) @ C
    np.testing.assert_allclose([f(z) for z in Z], expected)
    np.testing.assert_allclose(f.many(Z, block=3), expected)


def test_scale_far_below_the_smallest_double():
    """A decay over many steps keeps f proportional, and terms added later keep their size."""
    f = expansion()
    for _ in range(50):
        f.scale(1e-20)
        f.append(X[0], 1.0)
    assert f(X[0]) == pytest.approx(1.0)
    assert np.isfinite(f.coefficients).all()


def test_removing():
    """Terms removed from the front, from the middle and replaced leave the sum of the others."""
    f = expansion()
    f.scale(0.5)
    f.remove_oldest()
    f.remove(3)  # the fifth of all
    f.replace(0, X[0], 7.0)  # in place of the second
    kept = [j for j in range(2, 30) if j != 4]
    z = RNG.standard_normal(4)
    k = rbf_kernel(z[None], X, gamma=GAMMA)[0]
    assert f(z) == pytest.approx(0.5 * k[kept] @ C[kept] + 7.0 * k[0])
    f.append(X[4], 0.5 * C[4])
    assert f(z) == pytest.approx(0.5 * k[[*kept, 4]] @ C[[*kept, 4]] + 7.0 * k[0])


def test_columns_that_come_later():
    """Points that came before a column are 0 there, and so is an input that lacks one."""
    f = expansion(X[:, :2])
    f.append(X[0], 1.0)
    padded = np.vstack([np.pad(X[:, :2], ((0, 0), (0, 2))), X[0]])
    k = rbf_kernel(X[1:2], padded, gamma=GAMMA)[0]
    assert f(X[1]) == pytest.approx(k @ [*C, 1.0])
    short = np.pad(X[1, :2], (0, 2))
    assert f(X[1, :2]) == pytest.approx(f(short))
