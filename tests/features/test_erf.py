"""Error-function units against the arcsine kernel."""

import numpy as np
import pytest
from scipy import integrate, special, stats

from iln_stream.features import Erf

X = np.array([[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [1.0, 1.0, -1.0], [-2.0, 0.5, 3.0], [90.0, 0, 0]])


@pytest.mark.parametrize("arguments", [(), (0.2, 3.0), (20.0, 0.1)])
@pytest.mark.parametrize("i", range(len(X)))
def test_draws_have_the_kernel_as_mean(mean_product, arguments, i):
    """The closed form is the mean of the draws, for near and far points, flat and steep units."""
    family = Erf(*arguments)
    mean, standard_error = mean_product(family, X[i], X[2])
    assert abs(mean - family.kernel(X, X[2])[i]) < 5 * standard_error


@pytest.mark.parametrize("x", [0.0, 0.5, 3.0])
def test_kernel_at_equal_points_is_an_integral(x):
    """At x = x' it is E[erf(s Z)^2], s^2 = slope^2 x^2 + bias^2."""
    s = np.hypot(1.5 * x, 0.5)
    exact = integrate.quad(lambda z: special.erf(s * z) ** 2 * stats.norm.pdf(z), -12, 12)[0]
    k = Erf(slope=1.5, bias=0.5).kernel(np.array([[x]]), np.array([x]))
    np.testing.assert_allclose(k, exact, rtol=1e-7)


def test_kernel_of_far_points_is_the_angle():
    """Far out units are steps, and two points agree except for the angle between them."""
    far = 1e15 * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    np.testing.assert_allclose(Erf().kernel(far, far[0]), [1.0, 0.0, -1.0], atol=1e-7)


def test_slope_does_not_depend_on_the_columns():
    """Inputs of mean square 1 meet the same units, however many columns they have."""
    k = [Erf().kernel(np.zeros((1, d)), np.ones(d)) for d in (1, 10, 100)]
    np.testing.assert_allclose(k, k[0][0] * np.ones((3, 1)), rtol=1e-12)


def test_without_columns_only_the_bias_is_left():
    """Before any column is seen psi = erf(b), so a learner can still follow the mean."""
    family = Erf()
    w = family.draw(10, 0, np.random.default_rng(0))
    np.testing.assert_allclose(family.psi(np.zeros(0), w), special.erf(w.b), rtol=1e-12)
    k = family.kernel(np.zeros((1, 0)), np.zeros(0))
    np.testing.assert_allclose(k, 2 / np.pi * np.arcsin(8 / 9), rtol=1e-12)


def test_q_is_approached():
    """E[psi^4] comes within 1 % of 1 at large inputs."""
    family = Erf()
    w = family.draw(20_000, 1, np.random.default_rng(0))
    assert np.mean(family.psi(np.array([1e9]), w) ** 4) > 0.99 * family.q
