"""Algorithm 2 as an estimator; tests/learners/estimators/test_contract.py has its law."""

import math

import numpy as np
import pytest
from scipy import stats
from support.iterates import by_kernel, context, filled

from iln_stream.features import DecisionStumps, Erf, GaussianFourier, LaplacianFourier
from iln_stream.learners.draws import draws_for
from iln_stream.learners.estimators import Sampled


@pytest.mark.parametrize(
    ("units", "family", "message"),
    [
        ("phase integrated", Erf(), "needs random Gaussian cosines, not Erf"),
        ("phase integrated", LaplacianFourier(), "needs random Gaussian cosines, not Lap"),
        ("two normals", LaplacianFourier(), "needs Gaussian ridges, not Lap"),
    ],
)
def test_units_that_a_family_has_not_are_refused(units, family, message):
    """A way to draw units that the family lacks raises at the start and names the family."""
    with pytest.raises(ValueError, match=message):
        Sampled(units).start(context(family))


def test_an_unknown_way_to_draw_is_refused():
    """A misspelt `units` raises, with the possible values."""
    with pytest.raises(ValueError, match="units = 'three normals' must be 'two normals'"):
        Sampled("three normals")


def test_the_bound_on_the_noise_of_a_cosine_with_its_phase_integrated():
    """Where x is the only point every draw is 1/2: no less than 1/4 bounds the mean square."""
    f = Sampled("phase integrated").start(context(GaussianFourier(), m=50))
    x = np.array([1.0, 2.0])
    f.append(x, -3.0)
    assert f.estimate(x, 0).value == pytest.approx(-math.sqrt(50) * f.noise(50), rel=1e-6)
    f = Sampled("phase integrated").start(context(GaussianFourier(), m=None))
    f.append(x, -3.0)
    assert f.estimate(x, 0).draws == 0.25 * 3.0**2 / 0.01


@pytest.mark.parametrize("family", [GaussianFourier(0.3), Erf(), DecisionStumps()], ids=repr)
@pytest.mark.parametrize("m", [20, 200])
def test_noise_bounds_the_spread(family, m):
    """||alpha||_1 sqrt(q / m) is at least the spread of 500 estimates (chi-square at 1e-6)."""
    f, x = filled(Sampled(), family, m=m)
    spread = np.std([f.estimate(x, t).value for t in range(500)], ddof=1)
    assert spread**2 <= f.noise(m) ** 2 * stats.chi2.ppf(1 - 1e-6, df=499) / 499
    assert f.noise(0) == 0.0


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
