"""Hyperbolic tangents against integrals."""

import numpy as np
import pytest
from scipy import integrate, stats

from iln_stream.features import Tanh


@pytest.mark.parametrize("x", [0.0, 0.5, 3.0])
def test_mean_square_is_an_integral(mean_product, x):
    """At x = x' it is E[tanh(s Z)^2], s^2 = slope^2 |x|^2 / d + bias^2."""
    s = np.hypot(1.5 * x, 0.5)
    exact = integrate.quad(lambda z: np.tanh(s * z) ** 2 * stats.norm.pdf(z), -12, 12)[0]
    mean, standard_error = mean_product(Tanh(1.5, 0.5), np.full(4, x), np.full(4, x))
    assert abs(mean - exact) < 5 * standard_error


def test_no_symmetry_is_built_in():
    """Biases keep psi from being odd in x, which would leave every even function out of reach."""
    family = Tanh()
    w = family.draw(20_000, 2, np.random.default_rng(0))
    psi, mirrored = family.psi(np.ones(2), w), family.psi(-np.ones(2), w)
    assert abs(np.mean(psi * mirrored)) < 0.1 * np.mean(psi**2)


def test_q_is_approached():
    """E[psi^4] comes within 1 % of 1 at large inputs."""
    family = Tanh()
    w = family.draw(20_000, 1, np.random.default_rng(0))
    assert np.mean(family.psi(np.array([1e9]), w) ** 4) > 0.99 * family.q
