"""The contract of every estimator, for any family; those over a support are unbiased."""

import copy
import math
import pickle

import numpy as np
import pytest
from scipy import stats
from support.iterates import by_kernel, context, filled

from iln_stream.features import (
    ArcCosine,
    CauchyFourier,
    DecisionStumps,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    RandomNetwork,
    Sigmoid,
    Tanh,
)
from iln_stream.learners.estimators import ESTIMATORS, Block, Exact, Full, Sampled, estimator_of
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

OTHERS = Erf(), LaplacianFourier(0.2), CauchyFourier(0.2), ArcCosine(), DecisionStumps()
"""Families with a kernel, but not of Gaussian cosines."""
ESTIMATES = (
    Sampled(),
    Sampled("direct"),
    Sampled("phase integrated"),
    Block(64, 4),
    Block(300, 2),
    Full(64),
    Exact(),
)


CASES = [
    *((estimator, GaussianFourier(0.3)) for estimator in ESTIMATES),
    *((estimator, family) for estimator in (Sampled(), Block(64, 4)) for family in OTHERS),
]


@pytest.mark.parametrize(("estimator", "family"), CASES, ids=repr)
def test_unbiased_and_honest(estimator, family):
    """Over 600 events E has mean f(x) and the reported spread: 5 sigma, chi-square at 1e-6.

    And f(x) lies within 2 reported standard errors for 92 to 98 % of them, as it does for normal
    errors (95 +- 4 times 0.9, the standard deviation of the rate, rounded).
    """
    f, x = filled(estimator, family)
    exact, events = by_kernel(f, family, x), 600
    estimates = [f.estimate(x, t) for t in range(events)]
    values = np.array([e.value for e in estimates])
    told = np.array([e.standard_error for e in estimates])
    if isinstance(estimator, Exact):
        assert values == pytest.approx(exact)
        assert set(told) == {0.0}
        return
    spread = values.std(ddof=1)
    # Rows are in single precision: 1e-6 for it.
    assert abs(values.mean() - exact) < 5 * spread / math.sqrt(events) + 1e-6 * f.alpha_l1
    low, high = stats.chi2.ppf([5e-7, 1 - 5e-7], df=events - 1) / (events - 1)
    # The reported variance is a mean of many: 5 % is for its own error.
    assert low * 0.95 < spread**2 / np.mean(told**2) < high * 1.05
    assert 0.91 < np.mean(np.abs(values - exact) <= 2 * told) < 0.99


@pytest.mark.parametrize(
    ("estimator", "family"),
    [
        (Sampled(), Tanh()),
        (Sampled(), Sigmoid()),
        (Sampled("direct"), RandomNetwork()),
        (Block(200, 4), RandomNetwork()),
        (Full(200), Tanh()),
    ],
    ids=repr,
)
def test_families_without_a_kernel(estimator, family):
    """Families without a closed form are estimated without bias too: 5 sigma of both sides."""
    f, x = filled(estimator, family, n=10)
    alpha, rng = f.support.alpha, np.random.default_rng(5)
    w = family.draw(50_000, len(x), rng)
    theta = sum(a * family.psi(x_i, w) for a, x_i in zip(alpha, f.support.rows(4), strict=True))
    terms = theta * family.psi(x, w)
    values = [f.estimate(x, t).value for t in range(300)]
    error = math.hypot(terms.std() / math.sqrt(len(terms)), np.std(values) / math.sqrt(300))
    assert abs(np.mean(values) - terms.mean()) < 5 * error


@pytest.mark.parametrize("estimator", ESTIMATES, ids=repr)
def test_budget_and_policy(estimator):
    """The learner's budget and policy are respected, and E estimates f over the points kept."""
    family = GaussianFourier(0.3)
    f, x = filled(estimator, family, n=200, budget=20, policy="compress")
    assert f.n_support <= 20
    values = [f.estimate(x, t).value for t in range(200)]
    error = np.std(values) / math.sqrt(200) + 1e-6 * f.alpha_l1
    assert abs(np.mean(values) - by_kernel(f, family, x)) < 5 * error


@pytest.mark.parametrize(("estimator", "family"), CASES, ids=repr)
@pytest.mark.parametrize("d", [0, 1])
def test_few_columns(estimator, family, d):
    """Inputs of one column, and of none, are inputs too."""
    f, x = filled(estimator, family, n=12, d=d)
    exact = by_kernel(f, family, x)
    values = np.array([f.estimate(x, t).value for t in range(100)])
    assert abs(values.mean() - exact) < 5 * values.std() / 10 + 2e-6 * f.alpha_l1


@pytest.mark.parametrize(("estimator", "family"), CASES, ids=repr)
def test_columns_that_no_point_had(estimator, family):
    """An evaluated point may have more columns than the support, where these are 0."""
    narrow, x = filled(estimator, family, d=3)
    wide = np.concatenate([x, [0.7] * 20])
    wide.flags.writeable = False
    exact = by_kernel(narrow, family, wide)
    values = np.array([narrow.estimate(wide, t).value for t in range(300)])
    error = values.std() / math.sqrt(300) + 2e-6 * narrow.alpha_l1
    assert abs(values.mean() - exact) < 5 * error


@pytest.mark.parametrize("estimator", ESTIMATES, ids=repr)
def test_nothing_is_exact(estimator):
    """f = 0 is reported as 0 without error, with points of alpha = 0 as without points."""
    f = estimator.start(context(GaussianFourier()))
    assert f.estimate(np.ones(2), 0) == (0.0, 0.0, 0)
    f.append(np.ones(2), 0.0)
    assert f.estimate(np.ones(2), 1) == (0.0, 0.0, 0)


@pytest.mark.parametrize("family", [GaussianFourier(1e6), Erf(1e30, 1e-30)])
@pytest.mark.parametrize("estimator", [Sampled(), Sampled("direct"), Block(8, 4), Full(8)])
def test_finite_whatever_the_size(estimator, family):
    """Inputs of 1e15 under units of any width give numbers, and no larger than ||alpha||_1."""
    f = estimator.start(context(family))
    for x in (1e15, -1e15, 0.0, 1e-15):
        f.append(np.full(5, x), 1.0)
    for x in (1e15, -1e15, 0.0):
        for t in range(20):
            estimate = f.estimate(np.full(5, x), t)
            assert abs(estimate.value) <= 4 * (1 + 1e-5)
            assert math.isfinite(estimate.standard_error)


@pytest.mark.parametrize("estimator", ESTIMATES, ids=repr)
def test_is_a_function_of_state_point_and_event(estimator):
    """Estimating changes nothing; another event has other draws; a copy returns the same."""
    f, x = filled(estimator, GaussianFourier())
    before = pickle.dumps(f)
    first = f.estimate(x, 5)
    other = f.estimate(x, 6)
    assert f.estimate(x, 5) == first
    assert first != other or isinstance(estimator, Exact)
    assert pickle.dumps(f) == before
    for twin in (pickle.loads(before), copy.deepcopy(f)):
        assert twin.estimate(x, 5) == first


@pytest.mark.parametrize("name", ESTIMATORS)
def test_learns_by_name(name):
    """With the estimator of each name the learner beats the zero predictor."""
    budget = None if name == "averaged" else 200  # of an average nothing may be dropped
    model = ShrinkingGradient(GaussianFourier(0.7), estimator=name, step=0.1, budget=budget, seed=1)
    rng = np.random.default_rng(0)
    losses, zero = [], []
    for _ in range(400):
        a, b = rng.uniform(-1.5, 1.5, 2).tolist()
        y = 0.8 * math.sin(2 * a) * math.cos(b)
        model.learn_one({"a": a, "b": b}, y)
        losses.append(model.last_update.loss)
        zero.append(y * y / 2)
    assert budget is None or model.n_support <= budget
    assert np.mean(losses[200:]) < 0.6 * np.mean(zero[200:])


def test_estimators_are_chosen_by_name_or_as_objects():
    """A name stands for the estimator with its defaults; an object is taken as it is."""
    for name, kind in ESTIMATORS.items():
        assert estimator_of(name) == kind()
    mine = Block(8, 2)
    assert estimator_of(mine) is mine
    with pytest.raises(ValueError, match=r"estimator = 'sample' must be one of sampled, averaged"):
        estimator_of("sample")
