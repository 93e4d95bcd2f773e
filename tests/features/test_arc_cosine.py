"""Rectified units against the arc-cosine kernel."""

import math

import numpy as np
import pytest
from scipy import integrate

from iln_stream.features import ArcCosine

X = np.array([[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [1.0, 1.0, -1.0], [-2.0, 0.5, 3.0], [0.0, 50, 0]])


@pytest.mark.parametrize("radius", [None, 0.2, 10.0])
@pytest.mark.parametrize("i", range(len(X)))
def test_draws_have_the_kernel_as_mean(mean_product, radius, i):
    """The closed form is the mean of the draws, for points inside and beyond the radius."""
    family = ArcCosine(radius)
    mean, standard_error = mean_product(family, X[i], X[2])
    assert abs(mean - family.kernel(X, X[2])[i]) < 5 * standard_error


def test_kernel_is_the_integral_over_the_circle():
    """With one column u = (cos a, sin a), and the mean over a can be integrated."""
    for x, x_prime in [(0.5, -0.3), (2.0, -2.0), (0.7, 0.7)]:
        z, z_prime = (np.array([np.clip(v, -1, 1), 1.0]) / math.sqrt(2) for v in (x, x_prime))

        def product(a, z=z, z_prime=z_prime):
            u = np.array([math.cos(a), math.sin(a)])
            return max(u @ z, 0.0) * max(u @ z_prime, 0.0)

        mean = integrate.quad(product, -math.pi, math.pi, limit=500)[0] / (2 * math.pi)
        k = ArcCosine(radius=1.0).kernel(np.array([[x]]), np.array([x_prime]))
        np.testing.assert_allclose(k, mean, rtol=1e-7)


def test_kernel_at_equal_points():
    """At x = x' the kernel is half the mean square of u.z, however x is rounded."""
    for x in (*X, 1e15 * X[3], 1e-15 * X[3]):
        r = min(np.linalg.norm(x) / 2.0, 1.0)
        k = ArcCosine(radius=2.0).kernel(x[np.newaxis], x)
        np.testing.assert_allclose(k, 0.5 * (r**2 + 1.0) / 2.0 / 4.0, rtol=1e-9)


def test_points_beyond_the_radius_keep_their_direction():
    """Far points fall on the sphere: only their directions differ."""
    family = ArcCosine(radius=2.0)
    on, beyond = np.array([2.0, 0.0]), np.array([9.0, 0.0])
    np.testing.assert_allclose(family.inputs(beyond), family.inputs(on), rtol=1e-12)
    expected = np.sqrt(0.5) * np.array([[0.25, 0.0], [1.0, 0.0]])
    np.testing.assert_allclose(family.inputs(np.array([on / 4, beyond])), expected, rtol=1e-12)


def test_default_radius_is_twice_the_typical_norm():
    """With radius None it is 2 sqrt(d), for draws and kernel alike."""
    default, explicit = ArcCosine(), ArcCosine(radius=2.0 * math.sqrt(3.0))
    np.testing.assert_array_equal(default.kernel(X, X[1]), explicit.kernel(X, X[1]))
    np.testing.assert_array_equal(default.inputs(X), explicit.inputs(X))


def test_directions_are_units():
    """omega and sqrt(2) b make up a point of the unit sphere, with no entry preferred."""
    w = ArcCosine().draw(100_000, 3, np.random.default_rng(0))
    u = np.column_stack([w.omega, math.sqrt(2.0) * w.b])
    np.testing.assert_allclose(np.vecdot(u, u), 1.0, rtol=1e-12)
    np.testing.assert_allclose(u.T @ u / len(u), np.eye(4) / 4, atol=5e-3)


@pytest.mark.parametrize("d", [0, 1, 2, 5])
def test_q_bounds_the_mean_of_squares_and_is_reached(d):
    """E[psi^4] is 3 / (2 (d + 1) (d + 3)) beyond the radius: 3/16 at d = 1, less elsewhere."""
    family = ArcCosine()
    w = family.draw(200_000, d, np.random.default_rng(5))
    fourth = family.psi(np.full(d, 100.0), w) ** 4
    noise = 5 * fourth.std() / math.sqrt(len(fourth))
    expected = 3 / (2 * (d + 1) * (d + 3)) if d else 1 / 8
    assert abs(fourth.mean() - expected) < noise + 1e-12
    assert expected <= family.q
    assert d != 1 or math.isclose(expected, family.q)


def test_without_columns_the_constant_is_left():
    """Before any column is seen psi is one of two constants, so a learner can follow the mean."""
    family = ArcCosine()
    psi = family.psi(np.zeros(0), family.draw(100, 0, np.random.default_rng(0)))
    np.testing.assert_allclose(np.unique(psi), [0.0, math.sqrt(0.5)])
    np.testing.assert_allclose(family.kernel(np.zeros((2, 0)), np.zeros(0)), [0.25, 0.25])


def test_inputs_for_a_number_of_columns():
    """`for_columns` fixes the radius, so that zeros at a point's end don't change its inputs."""
    x = np.array([1.0, -2.0])
    fixed = ArcCosine().for_columns(2)
    np.testing.assert_array_equal(fixed.inputs(x), ArcCosine().inputs(x))
    np.testing.assert_array_equal(fixed.inputs(np.append(x, 0.0))[:2], fixed.inputs(x))
    assert ArcCosine(3.0).for_columns(7) == ArcCosine(3.0)
    assert (ArcCosine().inputs(np.append(x, 0.0))[:2] != fixed.inputs(x)).any()
