"""What all estimators over a support have in common."""

import math

import numpy as np
import pytest
from support.iterates import by_kernel, context, filled

from iln_stream.features import ArcCosine, GaussianFourier, Mixture
from iln_stream.learners.estimators import Block, Exact, Full, Sampled

OVER_A_SUPPORT = (Sampled(), Block(64, 4), Full(64), Exact())
over_a_support = pytest.mark.parametrize("estimator", OVER_A_SUPPORT, ids=repr)


@over_a_support
def test_reweighed_has_the_same_points_under_new_alpha(estimator):
    """f_S estimates sum_i alpha_i Phi(x_i) with the new alpha (5 s.e.), and f_t is unchanged."""
    family = GaussianFourier(0.3)
    f, x = filled(estimator, family)
    before = f.estimate(x, 3)
    g = f.reweighed(np.linspace(-1.0, 2.0, 30))
    assert g.support.alpha.tolist() == np.linspace(-1.0, 2.0, 30).tolist()
    assert g.support.rows(4).tolist() == f.support.rows(4).tolist()
    values = [g.estimate(x, t).value for t in range(200)]
    error = np.std(values) / math.sqrt(200) + 1e-6 * g.alpha_l1
    assert abs(np.mean(values) - by_kernel(g, family, x)) < 5 * error
    assert f.estimate(x, 3) == before


@pytest.mark.parametrize(
    "family", [GaussianFourier(0.3), ArcCosine(), Mixture.of_bandwidths((0.1, 2.0))], ids=repr
)
def test_finite_layer_is_unbiased(family):
    """Over 400 draws of 32 units the layer's mean is f(x) within 5 s.e., and its reported error
    is its spread within 15 % (the spread of 400 normal values has a deviation of 3.5 %)."""
    f, x = filled(Sampled(), family)
    X, rng = x[np.newaxis], np.random.default_rng(3)
    layers = [f.finite_layer(32, 4, rng)[0] for _ in range(400)]
    values = np.array([layer.evaluate(X)[0] for layer in layers])
    told = math.sqrt(np.mean([layer.error_at(X) ** 2 for layer in layers]))
    assert abs(values.mean() - by_kernel(f, family, x)) < 5 * values.std() / math.sqrt(400)
    assert values.std() == pytest.approx(told, rel=0.15)


def test_weights_of_a_finite_layer():
    """weights_r is sum_i alpha_i psi(x_i; w_r) / R for the units drawn."""
    family = GaussianFourier(0.3)
    f, _ = filled(Sampled(), family)
    layer, _ = f.finite_layer(8, 4, np.random.default_rng(5))
    w = family.draw(8, 4, np.random.default_rng(5))
    psi = np.array([family.psi(x_i, w) for x_i in f.support.rows(4)])
    np.testing.assert_allclose(layer.weights, f.support.alpha @ psi / 8, rtol=1e-12)
    np.testing.assert_array_equal(layer.omega, w.omega)


@over_a_support
def test_finite_layer_comes_with_the_latest_points(estimator):
    """The error is estimated at the last 100 points; the usual number of units is 1024."""
    f, _ = filled(estimator, GaussianFourier(), n=150)
    layer, points = f.finite_layer(None, 4, np.random.default_rng(0))
    assert layer.omega.shape == (1024, 4)
    assert points.tolist() == f.support.rows(4)[50:].tolist()


@pytest.mark.parametrize("size", [1, 0, 2.5])
def test_finite_layer_has_at_least_two_units(size):
    """Fewer units have no spread from which to estimate the error."""
    f, _ = filled(Sampled(), GaussianFourier())
    with pytest.raises(ValueError, match=f"size = {size} must be a whole number of units"):
        f.finite_layer(size, 4, np.random.default_rng(0))


def test_each_event_has_randomness_of_its_own():
    """The generator is a function of key and event; two events share no number."""
    f, _ = filled(Sampled(), GaussianFourier())
    other = Sampled().start(context(GaussianFourier(), key=np.array([1, 2], np.uint64)))
    first, again, next_event, other_key = (
        g.rng(t).random(1000) for g, t in ((f, 5), (f, 5), (f, 6), (other, 5))
    )
    assert first.tolist() == again.tolist()
    assert len({*first, *next_event, *other_key}) == 3000


@over_a_support
def test_without_draws_nothing_is_wanted_or_noisy(estimator):
    """An estimator without a bound on its noise reports 0, and wants no draws."""
    f, _ = filled(estimator, GaussianFourier())
    assert f.draws_wanted is None
    assert (f.noise(50) > 0) == isinstance(estimator, Sampled)
