"""Random networks against a second, slower writing of the same law."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from iln_stream.features import RandomNetwork

X = np.array([[0.0, 0.0, 0.0], [0.5, -0.5, 0.2], [-1.0, 2.0, 1.0], [9.0, -9.0, 9.0]])


def one_network(points, layers, width, scale, rng):
    """One draw, one matrix product at a time, at all points; shape (n_points,)."""
    h = points
    for units in [width] * layers + [1]:
        A = rng.standard_normal((h.shape[1], units)) * scale / math.sqrt(h.shape[1])
        b = rng.standard_normal(units) * scale / 2
        h = np.tanh(h @ A + b)
    return h[:, 0]


@pytest.mark.parametrize(("layers", "width", "scale"), [(2, 8, 2.0), (1, 3, 0.7), (3, 2, 4.0)])
def test_mean_products_match_an_independent_sample(mean_product, layers, width, scale):
    """Batched layers, fan-ins and biases give the kernel of networks drawn one by one."""
    rng = np.random.default_rng(11)
    n = 5_000
    psi = np.array([one_network(X, layers, width, scale, rng) for _ in range(n)])
    family = RandomNetwork(layers, width, scale)
    for i in range(len(X)):
        mean, standard_error = mean_product(family, X[i], X[1], n=20_000)
        products = psi[:, i] * psi[:, 1]
        error = math.hypot(standard_error, products.std() / math.sqrt(n))
        assert abs(mean - products.mean()) < 5 * error


@pytest.mark.parametrize("scale", [0.1, 0.5, 2.0, 20.0, 1e6])
def test_q_is_the_integral_it_claims(scale):
    """q bounds E[tanh(s Z)^4], s^2 = 5/4 scale^2, from above and by no more than 1e-3."""
    s = math.sqrt(1.25) * scale
    exact = (
        2
        * integrate.quad(
            lambda z: math.tanh(s * z) ** 4 * stats.norm.pdf(z),
            0,
            12,
            points=[1 / s, 3 / s],
            limit=200,
        )[0]
    )
    q = RandomNetwork(scale=scale).q
    assert exact - 1e-9 <= q <= min(exact + 1e-3, 1.0)


def test_q_is_nearly_reached_by_saturated_networks():
    """At large inputs one layer saturates and E[psi^4] comes within 1 % of q: no factor is lost."""
    family = RandomNetwork(layers=1, width=8, scale=2.0)
    w = family.draw(200_000, 1, np.random.default_rng(0))
    fourth = np.mean(family.psi(np.array([1e9]), w) ** 4)
    assert 0.99 * family.q < fourth < 1.01 * family.q


def test_depth_and_width_are_as_asked():
    """`layers` hidden layers of `width` units, then one output unit."""
    w = RandomNetwork(layers=3, width=4).draw(5, 2, np.random.default_rng(0))
    assert [layer.weights.shape for layer in w] == [(5, 4, 2), (5, 4, 4), (5, 4, 4), (5, 1, 4)]
    assert [layer.biases.shape for layer in w] == [(5, 4), (5, 4), (5, 4), (5, 1)]


def test_no_symmetry_is_built_in():
    """Biases keep psi from being odd in x, which would leave every even function out of reach."""
    family = RandomNetwork()
    w = family.draw(20_000, 2, np.random.default_rng(0))
    x = np.array([1.0, 1.0])
    assert np.mean(family.psi(x, w) * family.psi(-x, w)) > 0.1
