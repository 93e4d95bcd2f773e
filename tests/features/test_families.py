"""Families against values by hand, integrals and the laws of their draws."""

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

from iln_stream.features import (
    LARGEST_INPUT,
    AffineWeights,
    ArcCosine,
    CauchyFourier,
    DecisionStumps,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    RandomNetwork,
    Sigmoid,
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


@pytest.mark.parametrize(
    ("family", "law"),
    [
        (LaplacianFourier(0.5), stats.cauchy(scale=0.5)),
        (CauchyFourier(0.5), stats.laplace(scale=math.sqrt(0.5))),
    ],
    ids=repr,
)
def test_frequencies_follow_their_law(family, law):
    """The entries of omega, tails included, by a test at the 1e-6 level."""
    omega = family.draw(20_000, 5, np.random.default_rng(0)).omega
    assert stats.kstest(omega.ravel(), law.cdf).pvalue > 1e-6


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


@pytest.mark.parametrize("x", [0.0, 0.5, 3.0])
def test_the_error_function_kernel_at_equal_points_is_an_integral(x):
    """At x = x' it is E[erf(s Z)^2], s^2 = slope^2 x^2 + bias^2."""
    s = np.hypot(1.5 * x, 0.5)
    exact = integrate.quad(lambda z: special.erf(s * z) ** 2 * stats.norm.pdf(z), -12, 12)[0]
    k = Erf(slope=1.5, bias=0.5).kernel(np.array([[x]]), np.array([x]))
    np.testing.assert_allclose(k, exact, rtol=1e-7)


def test_slopes_do_not_depend_on_the_columns():
    """Inputs of mean square 1 meet the same units, however many columns they have."""
    k = [Erf().kernel(np.zeros((1, d)), np.ones(d)) for d in (1, 10, 100)]
    np.testing.assert_allclose(k, k[0][0] * np.ones((3, 1)), rtol=1e-12)


def test_the_arc_cosine_kernel_is_the_integral_over_the_circle():
    """With one column u = (cos a, sin a), and the mean over a can be integrated."""
    for x, x_prime in [(0.5, -0.3), (2.0, -2.0), (0.7, 0.7)]:
        z, z_prime = (np.array([np.clip(v, -1, 1), 1.0]) / math.sqrt(2) for v in (x, x_prime))

        def product(a, z=z, z_prime=z_prime):
            u = np.array([math.cos(a), math.sin(a)])
            return max(u @ z, 0.0) * max(u @ z_prime, 0.0)

        mean = integrate.quad(product, -math.pi, math.pi, limit=500)[0] / (2 * math.pi)
        k = ArcCosine(radius=1.0).kernel(np.array([[x]]), np.array([x_prime]))
        np.testing.assert_allclose(k, mean, rtol=1e-7)


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


def test_directions_are_units():
    """omega and sqrt(2) b make up a point of the unit sphere, with no entry preferred."""
    w = ArcCosine().draw(100_000, 3, np.random.default_rng(0))
    u = np.column_stack([w.omega, math.sqrt(2.0) * w.b])
    np.testing.assert_allclose(np.vecdot(u, u), 1.0, rtol=1e-12)
    np.testing.assert_allclose(u.T @ u / len(u), np.eye(4) / 4, atol=5e-3)


@pytest.mark.parametrize("d", [0, 2, 5])
def test_q_of_arc_cosines(d):
    """E[psi^4] is 3 / (2 (d + 1) (d + 3)) beyond the radius, and q its largest, 3/16 at d = 1."""
    family = ArcCosine()
    w = family.draw(200_000, d, np.random.default_rng(5))
    fourth = family.psi(np.full(d, 100.0), w) ** 4
    noise = 5 * fourth.std() / math.sqrt(len(fourth))
    expected = 3 / (2 * (d + 1) * (d + 3)) if d else 1 / 8
    assert abs(fourth.mean() - expected) < noise + 1e-12
    assert expected < family.q == 3 / 16


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


def test_rows_meet_their_own_stump():
    """Given n points, the k-th is read at the k-th draw's column."""
    w = Stumps(j=np.array([1, 0, 1]), theta=np.zeros(3))
    rows = np.array([[-1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    np.testing.assert_array_equal(DecisionStumps().psi(rows, w), [1.0, -1.0, -1.0])


def test_psi_is_the_clipped_coordinate():
    """Each draw reads its own column, clipped to [-1, 1], from one point or from its own row."""
    family = UniformCoordinates()
    w = np.array([2, 0, 1])
    np.testing.assert_array_equal(family.psi(np.array([5.0, 0.3, -5.0]), w), [-1.0, 1.0, 0.3])
    np.testing.assert_array_equal(family.psi(np.arange(9.0).reshape(3, 3) / 10, w), [0.2, 0.3, 0.7])


def test_columns_are_uniform():
    """No column is preferred: a chi-square test at the 1e-6 level."""
    w = UniformCoordinates().draw(10_000, 7, np.random.default_rng(0))
    assert stats.chisquare(np.bincount(w, minlength=7)).pvalue > 1e-6


def test_the_sigmoid_is_the_logistic_function():
    """1 / (1 + exp(-z)) from one far end to the other, values in [0, 1]."""
    z = np.linspace(-800.0, 800.0, 10_001)
    psi = Sigmoid().psi(np.zeros(0), AffineWeights(np.zeros((len(z), 0)), z))
    np.testing.assert_allclose(psi, special.expit(z), rtol=0, atol=1e-15)
    assert psi.min() == 0.0
    assert psi.max() == 1.0


@pytest.mark.parametrize("x", [0.0, 0.5, 3.0])
def test_the_mean_square_of_tanh_is_an_integral(x):
    """At x = x' it is E[tanh(s Z)^2], s^2 = slope^2 |x|^2 / d + bias^2."""
    family, s = Tanh(1.5, 0.5), np.hypot(1.5 * x, 0.5)
    exact = integrate.quad(lambda z: np.tanh(s * z) ** 2 * stats.norm.pdf(z), -12, 12)[0]
    squares = family.psi(np.full(4, x), family.draw(100_000, 4, np.random.default_rng(7))) ** 2
    assert abs(squares.mean() - exact) < 5 * squares.std() / math.sqrt(100_000)


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


@pytest.mark.parametrize("scale", [0.1, 2.0, 1e6])
def test_q_of_networks_is_the_integral_it_claims(scale):
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


def test_depth_and_width_are_as_asked():
    """`layers` hidden layers of `width` units, then one output unit."""
    w = RandomNetwork(layers=3, width=4).draw(5, 2, np.random.default_rng(0))
    assert [layer.weights.shape for layer in w] == [(5, 4, 2), (5, 4, 4), (5, 4, 4), (5, 1, 4)]
    assert [layer.biases.shape for layer in w] == [(5, 4), (5, 4), (5, 4), (5, 1)]
