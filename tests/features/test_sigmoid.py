"""Logistic sigmoids: half of the hyperbolic tangents, raised."""

import numpy as np
import pytest
from scipy import special

from iln_stream.features import AffineWeights, Sigmoid, Tanh


def test_psi_is_the_logistic_function():
    """1 / (1 + exp(-z)) from one far end to the other, values in [0, 1]."""
    z = np.linspace(-800.0, 800.0, 10_001)
    psi = Sigmoid().psi(np.zeros(0), AffineWeights(np.zeros((len(z), 0)), z))
    np.testing.assert_allclose(psi, special.expit(z), rtol=0, atol=1e-15)
    assert psi.min() == 0.0
    assert psi.max() == 1.0


def test_defaults_have_the_shape_of_tanh():
    """From the same normals, a sigmoid by default is (1 + tanh) / 2."""
    x = np.array([0.5, -2.0, 1.0])
    sigmoid, tanh = (f.psi(x, f.draw(50, 3, np.random.default_rng(0))) for f in (Sigmoid(), Tanh()))
    np.testing.assert_allclose(sigmoid, 0.5 + 0.5 * tanh, rtol=0, atol=1e-12)


@pytest.mark.parametrize("x", [0.0, 1.0, 1e9])
def test_q_bounds_the_mean_of_squares_and_is_approached(x):
    """E[psi^4] stays below 1/2, and comes within its noise of it at large inputs."""
    family = Sigmoid()
    fourth = family.psi(np.array([x]), family.draw(200_000, 1, np.random.default_rng(0))) ** 4
    noise = 5 * fourth.std() / np.sqrt(len(fourth))
    assert fourth.mean() < family.q + noise
    assert x < 1e9 or fourth.mean() > family.q - noise
