"""Random Fourier features against the Gaussian kernel."""

import numpy as np
import pytest

from iln_stream.features import GaussianFourier

X = np.array([[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [1.0, 1.0, -1.0], [-2.0, 0.5, 3.0]])


@pytest.mark.parametrize("gamma", [None, 0.05, 2.0])
@pytest.mark.parametrize("i", range(len(X)))
def test_draws_have_the_kernel_as_mean(mean_product, gamma, i):
    """The closed form is the mean that Algorithm 2 samples, for near and far points."""
    family = GaussianFourier(gamma)
    mean, standard_error = mean_product(family, X[i], X[1])
    assert abs(mean - family.kernel(X, X[1])[i]) < 5 * standard_error


def test_kernel_is_half_the_gaussian():
    """The kernel keeps the cosine's half and the textbook's gamma."""
    family = GaussianFourier(gamma=0.25)
    expected = [0.5 * np.exp(-0.25 * np.sum((x - X[3]) ** 2)) for x in X]
    np.testing.assert_allclose(family.kernel(X, X[3]), expected, rtol=1e-12)


def test_default_gamma_is_one_over_the_columns():
    """With gamma None both the draws and the kernel follow the number of columns."""
    default, explicit = GaussianFourier(), GaussianFourier(gamma=1 / 3)
    np.testing.assert_array_equal(default.kernel(X, X[1]), explicit.kernel(X, X[1]))
    w, w_explicit = (f.draw(10, 3, np.random.default_rng(0)) for f in (default, explicit))
    np.testing.assert_array_equal(w.omega, w_explicit.omega)


def test_draws_stay_as_they_were():
    """A stream replayed with its old seed meets the same units as in earlier releases."""
    w = GaussianFourier().draw(2, 3, np.random.default_rng(42))
    assert w.omega.tolist() == [
        [0.24880045376977442, -0.8491434669645416, 0.6127408355290958],
        [0.7679678750746824, -1.5930135608055385, -1.0632251151072352],
    ]
    assert w.b.tolist() == [4.782381792256834, 4.938987693414485]
    psi = GaussianFourier().psi(np.array([-1.0, 0.0, 1.0]), w)
    # A cosine may differ by its last bit from one processor to the next.
    np.testing.assert_allclose(psi, [0.4204427070151235, -0.9994289036426134], rtol=1e-14)


def test_without_columns_only_the_phase_is_left():
    """Before any column is seen psi = cos(b), so a learner can still follow the mean."""
    family = GaussianFourier()
    w = family.draw(10, 0, np.random.default_rng(0))
    np.testing.assert_array_equal(family.psi(np.zeros(0), w), np.cos(w.b))
    assert family.kernel(np.zeros((1, 0)), np.zeros(0)) == 0.5


@pytest.mark.parametrize("gap", [0.0, 0.1, 1.0, 10.0])
def test_q_bounds_the_mean_of_squares_and_is_reached(gap):
    """E[psi^2 psi'^2] never exceeds 3/8 beyond its noise, and equals it at x = x'."""
    family = GaussianFourier(gamma=1.0)
    n = 200_000
    w = family.draw(n, 2, np.random.default_rng(5))
    squares = family.psi(np.zeros(2), w) ** 2 * family.psi(np.array([gap, 0.0]), w) ** 2
    noise = 5 * squares.std() / np.sqrt(n)
    assert squares.mean() < family.q + noise
    if gap == 0.0:
        assert squares.mean() > family.q - noise
