import numpy as np
import pytest

from iln_stream.features.affine import activate
from iln_stream.kernels import supports as pool
from iln_stream.kernels.activations import CODES, TURNS

R = 37


def some(d, seed=0):
    """omega, b, x and theta, with room left in omega and b."""
    rng = np.random.default_rng(seed)
    omega = rng.standard_normal((d + 2, R + 5)).astype(np.float32)
    b = rng.standard_normal(R + 5).astype(np.float32)
    return omega, b, rng.standard_normal(d), rng.standard_normal(R), rng.uniform(0.5, 2.0, R)


def numpy_psi(name, omega, b, X):
    """The first R units in double precision, shape (n, R)."""
    d = X.shape[1]
    z = X @ omega[:d, :R].astype(np.float64) + b[:R].astype(np.float64)
    z /= TURNS if name == "cos" else 1.0
    return activate(name, z.ravel()).reshape(z.shape)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("d", [0, 1, 3, 4, 6, 9])
def test_mean_and_square_equal_numpy(name, d):
    """Any number of columns, also 0 and non-multiples of four; spare capacity is ignored."""
    omega, b, x, theta, share = some(d)
    z, psi = np.empty(R), np.empty(R, np.float32)
    mean, square = pool.mean_and_square(CODES[name], omega, b, x, theta, share, z, psi)
    expected = numpy_psi(name, omega, b, x[np.newaxis])[0]
    np.testing.assert_allclose(psi, expected, rtol=1e-6, atol=1e-6)
    terms = theta * share * expected
    assert mean == pytest.approx(terms.mean(), abs=2e-6)
    assert square == pytest.approx((terms**2).mean(), abs=2e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("n", [0, 1, 256, 700])
def test_expansion_equals_numpy(name, n, dtype):
    """sum_i alpha_i psi(x_i; w), over less than a block, whole blocks and a rest."""
    omega, b, *_ = some(3)
    rng = np.random.default_rng(1)
    X, alpha = rng.standard_normal((n, 3)).astype(dtype), rng.standard_normal(n)
    theta = expansion(name, omega, b, X, alpha)
    expected = alpha @ numpy_psi(name, omega, b, X.astype(np.float64))[:, 5:9]
    np.testing.assert_allclose(theta, expected, rtol=0, atol=1e-6 * (1 + np.abs(alpha).sum()))


def expansion(name, omega, b, X, alpha):
    """theta of the units 5 to 8."""
    theta = np.full(4, np.nan)
    rows = omega[: X.shape[1], 5:9].T.astype(np.float64, order="C")
    pool.expansion(CODES[name], rows, b[5:9].astype(np.float64), X, alpha, theta)
    return theta


def test_expansion_reads_a_view():
    """The support's rows may be slices of wider rows."""
    omega, b, *_ = some(3)
    rng = np.random.default_rng(2)
    wide, alpha = rng.standard_normal((50, 8)), rng.standard_normal(50)
    narrow = expansion("tanh", omega, b, wide[:, :3].copy(), alpha)
    np.testing.assert_allclose(expansion("tanh", omega, b, wide[:, :3], alpha), narrow, rtol=1e-12)


def test_add():
    """theta_r += alpha psi_r, for each r."""
    theta, psi = np.ones(5), np.arange(5, dtype=np.float32)
    pool.add_unit_weights(theta, psi, 0.5)
    np.testing.assert_array_equal(theta, 1.0 + 0.5 * np.arange(5))
