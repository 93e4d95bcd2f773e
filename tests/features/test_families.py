"""Families against values by hand."""

import math

import numpy as np
import pytest
from scipy import special

from iln_stream.features import (
    LARGEST_INPUT,
    ArcCosine,
    CauchyFourier,
    DecisionStumps,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    RandomNetwork,
    Tanh,
    UniformCoordinates,
)
from iln_stream.features.decision_stumps import Stumps

X = np.array([[0.0, 0.0, 0.0], [0.3, -0.2, 0.1], [1.0, 1.0, -1.0], [-2.0, 0.5, 3.0]])
FAR = 1e15 * np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("family", "points", "expected"),
    [
        (GaussianFourier(0.25), X, 0.5 * np.exp([0.0, -0.035, -0.75, -3.3125])),
        (LaplacianFourier(0.25), X, 0.5 * np.exp([0.0, -0.15, -0.75, -1.375])),
        (CauchyFourier(0.25), X[[0, 2, 3]], [0.5, 0.5 / 1.25**3, 0.5 / (2 * 1.0625 * 3.25)]),
        (DecisionStumps(2.0), [[1.0, 0, 0], [9, 0, 0], [9, 9, 9]], [5 / 6, 2 / 3, 0.0]),
        (UniformCoordinates(), [[1.0, 1.0, 1.0]], [0.0]),
    ],
    ids=repr,
)
def test_kernels_by_hand(family, points, expected):
    """Cosines keep their half; the columns' factors multiply, stumps' and coordinates' add."""
    found = family.kernel(np.array(points), np.zeros(3))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("family", [GaussianFourier, LaplacianFourier, CauchyFourier])
def test_default_gamma_is_one_over_the_columns(family):
    """With gamma None both the draws and the kernel follow the number of columns."""
    default, explicit = family(), family(gamma=1 / 3)
    np.testing.assert_array_equal(default.kernel(X, X[1]), explicit.kernel(X, X[1]))
    w, w_explicit = (f.draw(10, 3, np.random.default_rng(0)) for f in (default, explicit))
    np.testing.assert_array_equal(w.omega, w_explicit.omega)


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


def test_the_cauchy_kernel_of_far_points_is_zero():
    """A product over many columns does not overflow on its way to 0."""
    with np.errstate(over="raise"):
        k = CauchyFourier(gamma=1e30).kernel(np.full((1, 40), 1e15), np.full(40, -1e15))
    assert k == 0.0


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


def test_without_columns_a_constant_or_nothing_is_left():
    """Before any column is seen psi is a random constant, so that a learner can follow the mean;
    stumps and coordinates are 0.
    """
    x, X = np.zeros(0), np.zeros((1, 0))

    def psi_and_draws(family):
        w = family.draw(10, 0, np.random.default_rng(0))
        return family.psi(x, w), w

    for family, activation in ((GaussianFourier(), np.cos), (Erf(), special.erf)):
        psi, w = psi_and_draws(family)
        np.testing.assert_allclose(psi, activation(w.b), rtol=1e-12)
    np.testing.assert_allclose(np.unique(psi_and_draws(ArcCosine())[0]), [0.0, math.sqrt(0.5)])
    for family in (DecisionStumps(), UniformCoordinates()):
        assert not psi_and_draws(family)[0].any()
        assert family.kernel(X, x) == 0.0
    kernels = [family.kernel(X, x)[0] for family in (GaussianFourier(), ArcCosine(), Erf())]
    np.testing.assert_allclose(kernels, [0.5, 0.25, 2 / np.pi * np.arcsin(8 / 9)], rtol=1e-12)


def test_the_error_function_kernel_of_far_points_is_the_angle():
    """Far out units are steps, and two points agree except for the angle between them."""
    np.testing.assert_allclose(Erf().kernel(FAR, FAR[0]), [1.0, 0.0, -1.0], atol=1e-7)


def test_slopes_do_not_depend_on_the_columns():
    """Inputs of mean square 1 meet the same units, however many columns they have."""
    k = [Erf().kernel(np.zeros((1, d)), np.ones(d)) for d in (1, 10, 100)]
    np.testing.assert_allclose(k, k[0][0] * np.ones((3, 1)), rtol=1e-12)


def test_the_arc_cosine_kernel_at_equal_points():
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


def test_inputs_for_a_number_of_columns():
    """`for_columns` fixes the radius, so that zeros at a point's end don't change its inputs."""
    x = np.array([1.0, -2.0])
    fixed = ArcCosine().for_columns(2)
    np.testing.assert_array_equal(fixed.inputs(x), ArcCosine().inputs(x))
    np.testing.assert_array_equal(fixed.inputs(np.append(x, 0.0))[:2], fixed.inputs(x))
    np.testing.assert_array_equal(fixed.inputs(x), ArcCosine(2.0 * math.sqrt(2.0)).inputs(x))
    assert ArcCosine(3.0).for_columns(7) == ArcCosine(3.0)
    assert (ArcCosine().inputs(np.append(x, 0.0))[:2] != fixed.inputs(x)).any()


def test_sign_of_zero_is_one():
    """An input that meets its threshold exactly still gives +1: psi is never 0, so psi^2 = 1."""
    w = Stumps(j=np.array([0, 0, 0]), theta=np.array([0.5, 0.4, 0.6]))
    np.testing.assert_array_equal(DecisionStumps().psi(np.array([0.5]), w), [1.0, 1.0, -1.0])


def test_psi_is_the_clipped_coordinate():
    """Each draw reads its own column, clipped to [-1, 1], from one point or from its own row."""
    family = UniformCoordinates()
    w = np.array([2, 0, 1])
    np.testing.assert_array_equal(family.psi(np.array([5.0, 0.3, -5.0]), w), [-1.0, 1.0, 0.3])
    np.testing.assert_array_equal(family.psi(np.arange(9.0).reshape(3, 3) / 10, w), [0.2, 0.3, 0.7])


def test_no_symmetry_is_built_in():
    """Biases keep psi from being odd in x, which would leave every even function out of reach."""
    family = Tanh()
    w = family.draw(20_000, 2, np.random.default_rng(0))
    psi, mirrored = family.psi(np.ones(2), w), family.psi(-np.ones(2), w)
    assert abs(np.mean(psi * mirrored)) < 0.1 * np.mean(psi**2)


def one_network(points, layers, width, scale, rng):
    """One draw, one matrix product at a time, at all points; shape (n_points,)."""
    h = points
    for units in [width] * layers + [1]:
        A = rng.standard_normal((h.shape[1], units)) * scale / math.sqrt(h.shape[1])
        b = rng.standard_normal(units) * scale / 2
        h = np.tanh(h @ A + b)
    return h[:, 0]


@pytest.mark.parametrize(("layers", "width", "scale"), [(2, 8, 2.0), (1, 3, 0.7), (3, 2, 4.0)])
def test_networks_match_an_independent_sample(layers, width, scale):
    """Batched layers, fan-ins and biases give the kernel of networks drawn one by one."""
    n, rng = 5_000, np.random.default_rng(11)
    theirs = np.array([one_network(X, layers, width, scale, rng) for _ in range(n)])
    family = RandomNetwork(layers, width, scale)
    w = family.draw(20_000, 3, np.random.default_rng(7))
    for i, x in enumerate(X):
        ours, products = family.psi(x, w) * family.psi(X[1], w), theirs[:, i] * theirs[:, 1]
        error = math.hypot(ours.std() / math.sqrt(20_000), products.std() / math.sqrt(n))
        assert abs(ours.mean() - products.mean()) < 5 * error
