"""Cosines of Cauchy frequency against the Laplacian kernel."""

import numpy as np
import pytest
from scipy import stats

from iln_stream.features import LARGEST_INPUT, LaplacianFourier

X = np.array([[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [1.0, 1.0, -1.0], [-2.0, 0.5, 3.0]])


@pytest.mark.parametrize("gamma", [None, 0.05, 2.0])
@pytest.mark.parametrize("i", range(len(X)))
def test_draws_have_the_kernel_as_mean(mean_product, gamma, i):
    """The closed form is the mean of the draws, for near and far points."""
    family = LaplacianFourier(gamma)
    mean, standard_error = mean_product(family, X[i], X[1])
    assert abs(mean - family.kernel(X, X[1])[i]) < 5 * standard_error


def test_kernel_by_hand():
    """The kernel keeps the cosine's half; distances add up over the columns."""
    k = LaplacianFourier(gamma=0.25).kernel(X, X[0])
    np.testing.assert_allclose(k, 0.5 * np.exp([0.0, -0.15, -0.75, -1.375]), rtol=1e-12)


def test_default_gamma_is_one_over_the_columns():
    """With gamma None both the draws and the kernel follow the number of columns."""
    default, explicit = LaplacianFourier(), LaplacianFourier(gamma=1 / 3)
    np.testing.assert_array_equal(default.kernel(X, X[1]), explicit.kernel(X, X[1]))
    w, w_explicit = (f.draw(10, 3, np.random.default_rng(0)) for f in (default, explicit))
    np.testing.assert_array_equal(w.omega, w_explicit.omega)


def test_frequencies_are_cauchy():
    """The entries of omega, tails included, by a test at the 1e-6 level."""
    omega = LaplacianFourier(gamma=0.5).draw(20_000, 5, np.random.default_rng(0)).omega
    assert stats.kstest(omega.ravel(), stats.cauchy(scale=0.5).cdf).pvalue > 1e-6


@pytest.mark.parametrize("u", [0.0, 0.5, np.nextafter(1.0, 0.0)])
def test_the_rarest_frequencies_are_finite(u):
    """At the ends of a generator's range psi is still a cosine, for the largest inputs too."""

    class Extreme(np.random.Generator):
        def random(self, size):
            return np.full(size, u)

    family = LaplacianFourier(gamma=1e30)
    w = family.draw(3, 2, Extreme(np.random.Philox(0)))
    assert np.isfinite(w.omega).all()
    assert np.all(np.abs(family.psi(np.full(2, LARGEST_INPUT), w)) <= 1.0)


def test_q_is_reached():
    """E[psi^4] is 3/8 at x = x', within its noise."""
    family = LaplacianFourier()
    fourth = family.psi(X[3], family.draw(200_000, 3, np.random.default_rng(5))) ** 4
    assert abs(fourth.mean() - family.q) < 5 * fourth.std() / np.sqrt(len(fourth))
