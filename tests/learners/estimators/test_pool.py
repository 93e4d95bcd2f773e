"""Pools of units that are drawn once, of constant size and growing."""

import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from support.iterates import KEY, context

from iln_stream.features import (
    AffineFeatures,
    ArcCosine,
    CauchyFourier,
    DecisionStumps,
    GaussianFourier,
    Mixture,
    Tanh,
)
from iln_stream.learners.estimators.growing_pool import GrowingPool
from iln_stream.learners.estimators.pool import Pool, ridge_units
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

families = pytest.mark.parametrize(
    "family", [GaussianFourier(0.3), CauchyFourier(0.3), Tanh(), ArcCosine(3.0)], ids=repr
)
pools = pytest.mark.parametrize("pool", [Pool(64), GrowingPool(8, 1.0, 70)], ids=repr)


def named(x):
    """A row as a dict: x0, x1, ..."""
    return {f"x{j}": v for j, v in enumerate(x.tolist())}


def started(estimator, family=None, budget=None):
    """f_1 = 0 as the learner starts it."""
    return estimator.start(context(family or GaussianFourier(), budget=budget))


def weights(iterate, d):
    """R times the weights of its units for points of d columns: theta, but for ArcCosine."""
    return iterate.n_units * iterate.finite_layer(None, d, None)[0].weights


def fed(iterate, rows, alpha, shrink_after=None):
    """The iterate after these terms, and a shrink by 1/4 after one of them."""
    for k, (x, a) in enumerate(zip(rows, alpha, strict=True)):
        iterate.append(x, a)
        if k == shrink_after:
            iterate.shrink(0.25)
    return iterate


def some(n, d=3, seed=1):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal(n)


@families
def test_theta_is_the_sum_over_all_events(family):
    """theta = sum_i alpha_i psi(x_i; w) through shrinks and new columns, relative error 1e-5."""
    model = ShrinkingGradient(family, estimator=Pool(32), norm_bound=0.01, step=0.7, seed=0)
    rng = np.random.default_rng(1)
    alpha, rows = [], []
    for t in range(1_000):
        x = np.append(rng.uniform(-2, 2, 3 + t // 500), np.zeros(1 - t // 500))
        y = math.sin(2 * x[0])
        model.learn_one(named(x[: 3 + t // 500]), y)
        last = model.last_update
        if last.shrunk:
            alpha = [a / 4 for a in alpha]
        else:
            alpha.append(0.7 * (y - last.estimate.value))
            rows.append(x)
    assert model.n_shrinks > 10
    layer, _ = model.finite_layer()
    # Of psi as it is stored: 1, or the squared length of a direction for relu.
    scale = (layer.omega**2).sum(axis=1) + 2 * layer.b**2 if layer.radius else np.ones(32)
    psi = replace(layer, weights=np.ones(32)).terms(np.array(rows))
    theta = alpha @ psi
    ours = 32 * layer.weights * scale
    assert np.abs(ours - theta).max() < 1e-5 * np.abs(theta).max()
    assert model.alpha_l1 == pytest.approx(np.abs(alpha).sum())


def test_estimate_is_the_mean_of_theta_psi():
    """E and its standard error are those of the R terms."""
    model = ShrinkingGradient(estimator=Pool(128), step=0.5, seed=0)
    for a in (0.1, -0.4, 0.9):
        model.learn_one({"a": a, "b": 1.0}, a)
    terms = 128 * model.finite_layer()[0].terms(np.array([[0.3, 1.0]]))[0]
    estimate = model.estimate({"a": 0.3, "b": 1.0})
    assert estimate.value == pytest.approx(terms.mean(), rel=1e-5)
    assert estimate.standard_error == pytest.approx(terms.std(ddof=1) / math.sqrt(128), rel=1e-4)
    assert estimate.draws == 128


@families
def test_finite_layer_is_the_function(family):
    """The layer returned for freezing predicts as the learner does, in the caller's units."""
    model = ShrinkingGradient(family, estimator=Pool(64), step=0.5, seed=0)
    assert model.finite_layer()[0].evaluate(np.ones((2, 0))).tolist() == [0.0, 0.0]
    rng = np.random.default_rng(4)
    for t in range(100):
        x = rng.standard_normal(3 + t // 50)
        model.learn_one(named(x), math.tanh(x[0]))
    X = rng.standard_normal((20, 4))
    layer, points = model.finite_layer()
    assert points is None  # there is no error to estimate
    assert layer.omega.shape == (64, 4)
    assert {a.dtype for a in (layer.omega, layer.b, layer.weights)} == {np.dtype(np.float64)}
    predicted = [model.predict_one(named(x)) for x in X]
    np.testing.assert_allclose(layer.evaluate(X), predicted, rtol=0, atol=1e-6)


@pools
def test_predicting_new_columns_changes_nothing(pool):
    """Predictions leave no state: copies stay equal bit for bit."""
    model = ShrinkingGradient(estimator=pool, step=0.5, seed=0)
    for k in range(100):
        model.learn_one({"a": k / 30}, 0.5)
        before = pickle.dumps(model)
        model.predict_one({"a": 0.2, "new": 1.0, "newer": -3.0})
        assert pickle.dumps(model) == before


@pools
def test_copies_go_on_alike(pool):
    """A copy in mid-stream learns the rest exactly as the original does, new columns and units
    included."""
    held = [ShrinkingGradient(ArcCosine(), pool, step=0.5, budget=50, seed=9)]
    rng = np.random.default_rng(2)
    for k in range(300):
        x = rng.standard_normal(2 + k // 50)
        if k == 60:
            held += copy.deepcopy(held[0]), pickle.loads(pickle.dumps(held[0]))
        for model in held:
            model.learn_one(named(x), math.tanh(x[0]))
            model.predict_one({**named(x), "unseen": 1.0})
    assert len({pickle.dumps(model) for model in held}) == 1


def test_schedule():
    """R_t is growth sqrt(t) log t, rounded up, within [size, max_features]."""
    pool = GrowingPool(size=10, growth=2.0, max_features=500)
    assert [pool.units_at(t) for t in (0, 1, 2)] == [10, 10, 10]
    assert pool.units_at(400) == math.ceil(2 * 20 * math.log(400))
    assert pool.units_at(10**9) == 500
    sizes = [pool.units_at(t) for t in range(5_000)]
    assert sizes == sorted(sizes)


def test_pool_follows_the_schedule():
    """Units are added in eights, at most eight per event, catch up with the schedule, and stop."""
    pool = GrowingPool(size=4, growth=3.0, max_features=150)
    iterate = started(pool)
    for t, (x, a) in enumerate(zip(*some(400), strict=True), start=1):
        before = iterate.n_units
        iterate.append(x, a)
        assert before <= iterate.n_units <= min(before + 8, pool.units_at(t))
        assert iterate.n_units == 150 or (iterate.n_units - 4) % 8 == 0
        assert t < 20 or iterate.n_units == 150 or iterate.n_units > pool.units_at(t) - 8
    assert iterate.n_units == 150


def test_support_is_let_go_when_nobody_else_can_join():
    """Memory is bounded without a budget: after the last new unit no support is needed."""
    iterate = started(GrowingPool(size=4, growth=1.0, max_features=20))
    kept = []
    for x, a in zip(*some(100), strict=True):
        iterate.append(x, a)
        kept.append(iterate.n_support)
    assert iterate.n_units == 20
    assert max(kept) == kept.index(0) < 60  # every point until then
    before = len(pickle.dumps(iterate))
    fed(iterate, *some(500, seed=2))
    assert len(pickle.dumps(iterate)) < before + 100


@families
def test_newcomers_start_as_if_they_had_always_been_there(family):
    """Through a shrink, theta is that of a pool that had all its units from the start."""
    rows, alpha = some(300)
    grown = fed(started(GrowingPool(4, 1.0, 1_000), family), rows, alpha, shrink_after=100)
    R = grown.n_units
    assert R == 100  # as of 301 events: the shrink counts as one
    fixed = fed(started(Pool(R), family), rows, alpha, shrink_after=100)
    np.testing.assert_allclose(weights(grown, 3), weights(fixed, 3), rtol=0, atol=2e-5)
    assert grown.alpha_l1 == pytest.approx(fixed.alpha_l1)


def test_newcomers_see_columns_that_came_late():
    """Points older than a column have 0 in it, for old units and for new ones."""
    rows, alpha = some(300, d=4)
    rows[:150, 2:] = 0.0
    grown, fixed = started(GrowingPool(4, 1.0, 1_000)), started(Pool(92))
    for k, (x, a) in enumerate(zip(rows, alpha, strict=True)):
        for iterate in (grown, fixed):
            iterate.append(x[: 2 if k < 150 else 4].copy(), a)
    assert grown.n_units == 92
    np.testing.assert_allclose(weights(grown, 4), weights(fixed, 4), rtol=0, atol=2e-5)


def test_growth_pays():
    """At the end of a stream a pool that has grown beats one of constant size, and one whose new
    units know the last point only."""
    losses = {}
    for name, estimator, budget in (
        ("grown", GrowingPool(32, 4.0, 2_000), None),
        ("small", Pool(32), None),
        ("forgetful", GrowingPool(32, 4.0, 2_000), 1),
    ):
        model = ShrinkingGradient(
            GaussianFourier(0.5), estimator=estimator, step=0.5, budget=budget, seed=1
        )
        rng = np.random.default_rng(0)
        losses[name] = 0.0
        for t in range(1_500):
            x = rng.uniform(-1.5, 1.5, 3)
            y = math.sin(2 * x[0]) * math.cos(x[1]) * x[2] / 1.5
            model.learn_one(named(x), y)
            losses[name] += model.last_update.loss * (t >= 750)
    assert losses["grown"] < 0.8 * losses["forgetful"]
    assert losses["grown"] < 0.5 * losses["small"]


def test_with_a_budget_newcomers_know_what_is_kept():
    """A new unit's weight is the sum over the kept points; older weights don't change."""
    rows, alpha = some(200)
    iterate = started(GrowingPool(4, 1.0, 100), budget=10)
    units = ridge_units(GaussianFourier(), 3, KEY)
    for t, (x, a) in enumerate(zip(rows, alpha, strict=True), start=1):
        R, before = iterate.n_units, weights(iterate, 3)
        iterate.append(x, a)
        kept = slice(max(0, t - 10), t)
        assert iterate.n_support == min(t, 10)
        if iterate.n_units > R:
            theta = weights(iterate, 3)
            expected = units.expansion(slice(R, iterate.n_units), rows[kept], alpha[kept])
            np.testing.assert_allclose(theta[R:], expected, rtol=1e-5)
            at_x = units.expansion(slice(0, R), x[np.newaxis], alpha[t - 1 : t])
            np.testing.assert_allclose(theta[:R], before + at_x, rtol=0, atol=1e-6)
    assert iterate.n_units > 60


class Unknown(AffineFeatures):
    """Affine units with an unknown activation."""

    activation = "swish"
    q = 1.0

    def draw(self, n, d, rng):
        raise NotImplementedError


@pytest.mark.parametrize(
    ("family", "pool"),
    [
        (DecisionStumps(), GrowingPool()),
        (Mixture((GaussianFourier(),)), Pool(8)),
        (Unknown(), Pool(8)),
    ],
    ids=["stumps", "mixture", "unknown"],
)
def test_other_families_are_refused(family, pool):
    """A family whose units can't be kept raises at once; the message lists others."""
    with pytest.raises(ValueError, match=rf"{type(pool).__name__} needs ridge units.*ArcCosine"):
        ShrinkingGradient(family, estimator=pool)


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (Pool, {"size": 1}, "size = 1"),
        (GrowingPool, {"size": 1}, "size = 1"),
        (GrowingPool, {"growth": 0.0}, "growth = 0.0"),
        (GrowingPool, {"growth": math.nan}, "growth = nan"),
        (GrowingPool, {"max_features": 10}, "max_features = 10 must be at least size = 64"),
    ],
)
def test_parameters_are_checked(kind, arguments, message):
    """Invalid arguments are rejected by name; one unit has no spread to estimate the error from."""
    with pytest.raises(ValueError, match=message):
        kind(**arguments)
