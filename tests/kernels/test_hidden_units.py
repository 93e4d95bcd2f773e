import numpy as np
import pytest
from kernels import plain

from iln_stream.kernels.activations import COS, RELU
from iln_stream.kernels.ridges import features, gradient, preactivations

SHAPES = [(0, 5), (1, 1), (3, 0), (4, 37), (9, 320)]


def some(d, R, seed=0):
    """omega, b, which inputs are linear features, v with a 0 in it, and weights with room left."""
    rng = np.random.default_rng(seed)
    omega, b = rng.normal(size=(d, R)).astype(np.float32), rng.normal(size=R).astype(np.float32)
    v = rng.normal(size=d)
    v[:1] = 0.0
    linear = np.arange(d) % 3 != 1
    return omega, b, linear.astype(float), v, rng.normal(size=R + 1 + d + 3)


@pytest.mark.parametrize(("d", "R"), SHAPES)
def test_preactivations(d, R):
    """u = omega'v + b to single precision, where v has zeros or is empty too."""
    omega, b, _, v, _ = some(d, R)
    u = np.full(R, np.nan, np.float32)
    preactivations(omega, b, v, u)
    assert u == pytest.approx(v @ omega.astype(float) + b, abs=1e-5)


@pytest.mark.parametrize("activation", [COS, RELU])
@pytest.mark.parametrize(("d", "R"), SHAPES)
def test_features_and_their_gradient(d, R, activation):
    """Features are [units, 1, .3 v] and nothing behind them, gradients those of the chain rule.

    Without units too, without inputs, and where an input is no linear feature.
    """
    omega, b, linear, v, theta = some(d, R)
    u, a = np.empty(R, np.float32), np.empty(R, np.float32)
    phi, g = np.full(len(theta), 7.0), np.empty(d)
    features(omega, b, activation, linear, v, u, phi)
    n = R + 1 + d
    expected = plain.features(omega, b, activation == COS, linear, v)
    assert phi[:n] == pytest.approx(expected, abs=2e-5)
    assert (phi[n:] == 7.0).all()
    gradient(omega, activation, linear, theta, u, a, g)
    expected = plain.gradient(omega, b, activation == COS, linear, theta, v)
    assert g == pytest.approx(expected, rel=1e-5, abs=2e-5 * np.sqrt(R + 1) * 10)


@pytest.mark.parametrize("activation", [COS, RELU])
def test_gradient_is_how_the_function_changes(activation):
    """The sum of weighted features changes along a small step as the gradient says, to 1 %."""
    omega, b, linear, v, theta = some(4, 37, seed=1)
    step = 1e-2 * np.eye(4)
    values, u = [], np.empty(37, np.float32)
    phi, g = np.zeros(len(theta)), np.empty(4)
    for point in [*(v + step), *(v - step), v]:
        features(omega, b, activation, linear, point, u, phi)
        values.append(theta @ phi)
    gradient(omega, activation, linear, theta, u, np.empty(37, np.float32), g)
    change = (np.array(values[:4]) - values[4:8]) / 2e-2
    assert g == pytest.approx(change, abs=0.01 * np.abs(change).max())


def test_units_that_are_off():
    """A relu unit at 0 or below gives 0, and has no gradient."""
    omega, b = np.ones((1, 3), np.float32), np.array([-1.0, -2.0, 0.0], np.float32)
    u, phi, g = np.empty(3, np.float32), np.empty(5), np.empty(1)
    features(omega, b, RELU, np.zeros(1), np.array([1.0]), u, phi)
    assert phi == pytest.approx([0.0, 0.0, 3.0 * np.sqrt(2.0 / 3.0), 1.0, 0.0])
    gradient(omega, RELU, np.zeros(1), np.array([5.0, 7.0, 1.0, 0.0, 0.0]), u, np.empty_like(u), g)
    assert g == pytest.approx(3.0 * np.sqrt(2.0 / 3.0))
