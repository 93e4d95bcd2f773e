"""Cosines of Laplace frequency against the Cauchy kernel."""

import numpy as np
import pytest
from scipy import stats

from iln_stream.features import CauchyFourier

X = np.array([[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [1.0, 1.0, -1.0], [-2.0, 0.5, 3.0]])


@pytest.mark.parametrize("gamma", [None, 0.05, 2.0])
@pytest.mark.parametrize("i", range(len(X)))
def test_draws_have_the_kernel_as_mean(mean_product, gamma, i):
    """The closed form is the mean of the draws, for near and far points."""
    family = CauchyFourier(gamma)
    mean, standard_error = mean_product(family, X[i], X[1])
    assert abs(mean - family.kernel(X, X[1])[i]) < 5 * standard_error


def test_kernel_by_hand():
    """The kernel keeps the cosine's half; the columns' factors multiply."""
    k = CauchyFourier(gamma=0.25).kernel(X[[0, 2, 3]], X[0])
    np.testing.assert_allclose(k, [0.5, 0.5 / 1.25**3, 0.5 / (2 * 1.0625 * 3.25)], rtol=1e-12)


def test_kernel_of_far_points_is_zero():
    """A product over many columns does not overflow on its way to 0."""
    with np.errstate(over="raise"):
        k = CauchyFourier(gamma=1e30).kernel(np.full((1, 40), 1e15), np.full(40, -1e15))
    assert k == 0.0


def test_default_gamma_is_one_over_the_columns():
    """With gamma None both the draws and the kernel follow the number of columns."""
    default, explicit = CauchyFourier(), CauchyFourier(gamma=1 / 3)
    np.testing.assert_array_equal(default.kernel(X, X[1]), explicit.kernel(X, X[1]))
    w, w_explicit = (f.draw(10, 3, np.random.default_rng(0)) for f in (default, explicit))
    np.testing.assert_array_equal(w.omega, w_explicit.omega)


def test_frequencies_are_laplace():
    """The entries of omega, of width sqrt(gamma), by a test at the 1e-6 level."""
    omega = CauchyFourier(gamma=0.5).draw(20_000, 5, np.random.default_rng(0)).omega
    assert stats.kstest(omega.ravel(), stats.laplace(scale=np.sqrt(0.5)).cdf).pvalue > 1e-6


def test_q_is_reached():
    """E[psi^4] is 3/8 at x = x', within its noise."""
    family = CauchyFourier()
    fourth = family.psi(X[3], family.draw(200_000, 3, np.random.default_rng(5))) ** 4
    assert abs(fourth.mean() - family.q) < 5 * fourth.std() / np.sqrt(len(fourth))
