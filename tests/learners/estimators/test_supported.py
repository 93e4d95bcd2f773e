"""Estimators over a support; tests/learners/estimators/test_contract.py has their law."""

import math

import numpy as np
import pytest
from scipy import stats
from support.iterates import by_kernel, context, filled, squared_norm

from iln_stream.features import (
    ArcCosine,
    DecisionStumps,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    Mixture,
    Tanh,
)
from iln_stream.learners.draws import draws_for
from iln_stream.learners.estimators import Block, Estimate, Exact, Full, Sampled
from iln_stream.learners.estimators.sampled import compilable

over_a_support = pytest.mark.parametrize(
    "estimator", [Sampled(), Block(64, 4), Full(64), Exact()], ids=repr
)
families = pytest.mark.parametrize("family", [GaussianFourier(0.3), DecisionStumps()], ids=repr)


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


@over_a_support
def test_finite_layer_comes_with_the_latest_points(estimator):
    """The error is estimated at the last 100 points; the usual number of units is 1024."""
    f, _ = filled(estimator, GaussianFourier(), n=150)
    layer, points = f.finite_layer(None, 4, np.random.default_rng(0))
    assert layer.omega.shape == (1024, 4)
    assert points.tolist() == f.support.rows(4)[50:].tolist()


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


@pytest.mark.parametrize("m", [20, 200])
@families
def test_noise_of_draws_bounds_the_spread(family, m):
    """||alpha||_1 sqrt(q / m) is at least the spread of 500 estimates (chi-square at 1e-6)."""
    f, x = filled(Sampled(), family, m=m)
    spread = np.std([f.estimate(x, t).value for t in range(500)], ddof=1)
    assert spread**2 <= f.noise(m) ** 2 * stats.chi2.ppf(1 - 1e-6, df=499) / 499
    assert f.noise(0) == 0.0


@pytest.mark.parametrize(("R", "S"), [(16, 1), (64, 32)])
@families
def test_variance_of_a_block_is_within_its_bound(family, R, S):
    """Var[E] <= (q ||alpha||_1^2 / S + ||f||^2) / R, from 500 events (chi-square at 1e-6)."""
    f, x = filled(Block(R, S), family)
    estimates = [f.estimate(x, t) for t in range(500)]
    bound = (family.q * f.alpha_l1**2 / S + squared_norm(f, family)) / R
    variance = np.var([e.value for e in estimates], ddof=1)
    assert variance <= bound * stats.chi2.ppf(1 - 1e-6, df=499) / 499
    assert {e.draws for e in estimates} == {R}


@families
def test_variance_of_full_sums_is_within_its_bound(family):
    """Var[E] <= ||f||^2 / R, whatever ||alpha||_1, from 500 events (chi-square at 1e-6)."""
    f, x = filled(Full(16), family)
    f.append(x, 50.0)
    f.append(x, -50.0)  # cancels in f, not in ||alpha||_1
    variance = np.var([f.estimate(x, t).value for t in range(500)], ddof=1)
    bound = squared_norm(f, family) / 16
    assert variance <= bound * stats.chi2.ppf(1 - 1e-6, df=499) / 499
    assert bound < f.alpha_l1**2 / 16 / 100


@pytest.mark.parametrize("n", [10, 3_000])
@pytest.mark.parametrize("family", [Tanh(), DecisionStumps()], ids=repr)
def test_a_full_sum_is_over_the_whole_support(family, n):
    """E is the mean of theta_r psi(x; w_r) over the event's units, in products of any size."""
    f, x = filled(Full(16), family, n=n)
    rows, alpha = f.support.rows(4), f.support.alpha
    w = family.draw(16, 4, f.rng(7))
    theta = sum(a * family.psi(x_i, w) for a, x_i in zip(alpha, rows, strict=True))
    expected = Estimate.from_terms(theta * family.psi(x, w))
    assert f.estimate(x, 7) == pytest.approx(expected, rel=1e-4, abs=1e-5)


def test_a_kernel_expansion_is_exact_at_every_accuracy():
    """E is sum_i alpha_i k(x_i, x), without error or draws."""
    family = Mixture.of_bandwidths((0.1, 2.0))
    f, x = filled(Exact(), family)
    expected = (pytest.approx(by_kernel(f, family, x)), 0.0, 0)
    assert f.estimate(x, 0) == f.estimate_within(x, 1e-9, 1e-9, 99) == expected


def test_error_is_within_eps_but_for_delta():
    """At delta = .3 no more than 30 % of independent estimates are off by more than eps."""
    n, delta, family = 400, 0.3, DecisionStumps()
    f, x = filled(Sampled(), family)
    eps, exact = f.alpha_l1 / 8, by_kernel(f, family, x)
    estimates = [f.estimate_within(x, eps, delta, t) for t in range(n)]
    assert {e.draws for e in estimates} == {draws_for(eps, delta, f.alpha_l1, family.q)}
    errors = [abs(e.value - exact) for e in estimates]
    # Wrong with probability < 1e-6 if the true probability is delta; the bound is far from tight.
    assert sum(error > eps for error in errors) <= stats.binom.ppf(1 - 1e-6, n, delta)
    assert max(errors) > 0  # and they are estimates


def test_draws_wanted_only_beyond_the_maximum():
    """The number of draws is reported as too low once the tolerated variance needs more."""
    given = context(GaussianFourier(), m=None)
    f = Sampled().start(given._replace(draws=given.draws._replace(most=100)))
    f.append(np.ones(2), 1.0)
    assert f.draws_wanted is None  # 3/8 / 0.01 = 37.5
    f.append(np.ones(2), 1.0)
    assert f.draws_wanted == pytest.approx(150.0)
    assert f.estimate(np.ones(2), 0).draws == 100
    fixed = Sampled().start(context(GaussianFourier(), m=5))
    fixed.append(np.ones(2), 1e6)
    assert fixed.draws_wanted is None


def test_the_bound_on_the_noise_of_a_cosine_with_its_phase_integrated():
    """Where x is the only point every draw is 1/2: no less than 1/4 bounds the mean square."""
    f = Sampled("phase integrated").start(context(GaussianFourier(), m=50))
    x = np.array([1.0, 2.0])
    f.append(x, -3.0)
    assert f.estimate(x, 0).value == pytest.approx(-math.sqrt(50) * f.noise(50), rel=1e-6)
    f = Sampled("phase integrated").start(context(GaussianFourier(), m=None))
    f.append(x, -3.0)
    assert f.estimate(x, 0).draws == 0.25 * 3.0**2 / 0.01


class Doubled(GaussianFourier):
    """Gaussian ridges of 2 x, not of x."""

    def inputs(self, x):
        return 2.0 * x


def test_ridges_of_other_inputs_are_not_compiled():
    """Only Gaussian ridges of x itself are drawn by compiled code."""
    assert compilable(Doubled()) is None
    assert compilable(GaussianFourier()) == GaussianFourier()


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (lambda: Block(1), "features = 1 must be at least 2"),
        (lambda: Block(8, 0), "points = 0 must be at least 1"),
        (lambda: Full(1), "features = 1 must be at least 2"),
        (lambda: Sampled("three normals"), "units = 'three normals' must be 'two normals'"),
        (
            lambda: Sampled("phase integrated").start(context(Erf())),
            "needs random Gaussian cosines, not Erf",
        ),
        (
            lambda: Sampled("two normals").start(context(LaplacianFourier())),
            "needs Gaussian ridges, not Lap",
        ),
        (
            lambda: Exact().start(context(Mixture((Tanh(),)))),
            r"closed form, not .*GaussianFourier, Lap.*Mixture",
        ),
    ],
)
def test_what_an_estimator_can_not_do_is_refused(start, message):
    """The error names the argument or the family, and what is possible."""
    with pytest.raises(ValueError, match=message):
        start()
