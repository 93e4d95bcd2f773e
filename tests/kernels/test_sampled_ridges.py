import math

import numpy as np
import pytest
from kernels.reference import block_terms, products
from scipy import stats

from iln_stream.features import Erf, GaussianFourier, Sigmoid, Tanh
from iln_stream.learners.estimators import DrawPolicy, EstimatorContext
from iln_stream.learners.estimators.block import Block
from iln_stream.learners.estimators.sampled import Sampled, est_scalar_prod

KEY = np.array([2**64 - 3, 12], dtype=np.uint64)
FAMILIES = (GaussianFourier(0.1), Erf(), Tanh(), Sigmoid())
UNITS = ("two normals", "direct", "phase integrated")
CASES = [(u, f) for u in UNITS for f in FAMILIES if u != UNITS[2] or f == FAMILIES[0]]


def filled(estimator, family, n: int, d: int, m: int = 100):
    """An iterate whose window of points has moved, and a point at which to evaluate it."""
    f = estimator.start(EstimatorContext(family, DrawPolicy(m, 0.01, 1, 10**9), n, "oldest", KEY))
    rng = np.random.default_rng(d)
    for _ in range(2 * n + 7):
        f.append(rng.standard_normal(d), rng.standard_normal())
    x = rng.standard_normal(d)
    x.flags.writeable = False  # as a learner passes it: that code is compiled
    return f, x


@pytest.mark.parametrize(
    ("units", "family", "m", "d"),
    [
        *((*case, m, d) for case in CASES for m, d in ((1, 2), (257, 8), (1_000, 17))),
        *(("direct", FAMILIES[0], m, d) for m, d in ((255, 100), (256, 5))),
        ("direct", GaussianFourier(1e-4), 2, 5_000),
    ],
    ids=repr,
)
def test_equals_numpy_draw_for_draw(units, family, d, m):
    """From the same bits numpy's double precision has the same E, to 1e-5 of ||alpha||_1.

    Over whole and broken tiles, whole and broken lanes.
    """
    f, x = filled(Sampled(units), family, n=40, d=d, m=m)
    for t in (0, 3, 2**31 + 5):
        terms = products(f.support, x, family, int(KEY[0]), t, m, units)
        estimate = f.estimate(x, t)
        assert abs(estimate.value - f.alpha_l1 * terms.mean()) < 1e-5 * f.alpha_l1
        if m > 1:
            error = f.alpha_l1 * terms.std(ddof=1) / math.sqrt(m)
            digits = 1e-3 * f.alpha_l1 / math.sqrt(m)  # of a difference in single precision
            assert estimate.standard_error == pytest.approx(error, rel=1e-3, abs=digits)


@pytest.mark.parametrize(("d", "S"), [(2, 4), (100, 1), (5, 300)])
def test_blocks_equal_numpy_draw_for_draw(d, S):
    """Terms of blocks equal those of numpy from the same bits, over whole and broken tiles."""
    family = FAMILIES[0]
    f, x = filled(Block(70, S), family, n=40, d=d)
    terms = block_terms(f.support, x, family, int(KEY[0]), 7, 70, S)
    estimate = f.estimate(x, 7)
    assert abs(estimate.value - f.alpha_l1 * terms.mean()) < 1e-5 * f.alpha_l1
    assert estimate.standard_error == pytest.approx(
        f.alpha_l1 * terms.std(ddof=1) / math.sqrt(70), rel=1e-3
    )


@pytest.mark.parametrize(("units", "family"), CASES[2::3], ids=repr)
def test_columns_added_later(units, family):
    """A point with columns that no row of the support has differs from all rows in them."""
    f, _ = filled(Sampled(units), family, n=40, d=3, m=300)
    x = np.random.default_rng(1).standard_normal(37)
    x.flags.writeable = False
    terms = products(f.support, x, family, int(KEY[0]), 5, 300, units)
    assert abs(f.estimate(x, 5).value - f.alpha_l1 * terms.mean()) < 1e-5 * f.alpha_l1


@pytest.mark.parametrize(
    ("units", "family", "d"), [("two normals", Erf(), 3), ("direct", FAMILIES[0], 1)], ids=repr
)
def test_has_the_law_of_algorithm_2(units, family, d):
    """E of 8 draws has the law of numpy's E: two-sample Kolmogorov-Smirnov at 1e-6."""
    f, x = filled(Sampled(units), family, n=6, d=d, m=8)
    ours = [f.estimate(x, t).value for t in range(4_000)]
    rng = np.random.default_rng(0)
    theirs = [est_scalar_prod(f.support, x, 8, family, rng).value for _ in range(4_000)]
    assert stats.ks_2samp(ours, theirs).pvalue > 1e-6


def test_integrating_the_phase_keeps_the_mean_and_lowers_the_variance():
    """The phase integrated out: the same mean (5 sigma), 0.4 to 0.75 of the variance."""
    family = FAMILIES[0]
    f, x = filled(Sampled("direct"), family, n=40, d=5, m=200_000)
    g, _ = filled(Sampled("phase integrated"), family, n=40, d=5, m=200_000)
    direct, integrated = f.estimate(x, 0), g.estimate(x, 0)
    error = math.hypot(direct.standard_error, integrated.standard_error)
    assert abs(direct.value - integrated.value) < 5 * error
    assert 0.4 < (integrated.standard_error / direct.standard_error) ** 2 < 0.75
