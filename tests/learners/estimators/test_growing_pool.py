import copy
import math
import pickle

import numpy as np
import pytest
from support.iterates import KEY, context

from iln_stream.features import (
    ArcCosine,
    CauchyFourier,
    DecisionStumps,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    Sigmoid,
    Tanh,
    closed_form,
)
from iln_stream.learners.estimators.growing_pool import GrowingPool
from iln_stream.learners.estimators.pool import Pool, ridge_units
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

FAMILIES = [
    GaussianFourier(0.3),
    LaplacianFourier(0.3),
    CauchyFourier(0.3),
    Erf(),
    ArcCosine(3.0),
    Tanh(),
    Sigmoid(),
]
families = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)


def iterate_of(estimator, family=None, budget=None):
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
    iterate = iterate_of(pool)
    for t, (x, a) in enumerate(zip(*some(400), strict=True), start=1):
        before = iterate.n_units
        iterate.append(x, a)
        assert before <= iterate.n_units <= min(before + 8, pool.units_at(t))
        assert iterate.n_units == 150 or (iterate.n_units - 4) % 8 == 0
        assert t < 20 or iterate.n_units == 150 or iterate.n_units > pool.units_at(t) - 8
    assert iterate.n_units == 150


def test_support_is_let_go_when_nobody_else_can_join():
    """Memory is bounded without a budget: after the last new unit no support is needed."""
    iterate = iterate_of(GrowingPool(size=4, growth=1.0, max_features=20))
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
    grown = fed(iterate_of(GrowingPool(4, 1.0, 1_000), family), rows, alpha, shrink_after=100)
    R = grown.n_units
    assert R == 100  # as of 301 events: the shrink counts as one
    fixed = fed(iterate_of(Pool(R), family), rows, alpha, shrink_after=100)
    np.testing.assert_allclose(weights(grown, 3), weights(fixed, 3), rtol=0, atol=2e-5)
    assert grown.alpha_l1 == pytest.approx(fixed.alpha_l1)


def test_newcomers_see_columns_that_came_late():
    """Points older than a column have 0 in it, for old units and for new ones."""
    rows, alpha = some(300, d=4)
    rows[:150, 2:] = 0.0
    grown, fixed = iterate_of(GrowingPool(4, 1.0, 1_000)), iterate_of(Pool(92))
    for k, (x, a) in enumerate(zip(rows, alpha, strict=True)):
        for iterate in (grown, fixed):
            iterate.append(x[: 2 if k < 150 else 4].copy(), a)
    assert grown.n_units == 92
    np.testing.assert_allclose(weights(grown, 4), weights(fixed, 4), rtol=0, atol=2e-5)


@pytest.mark.parametrize("family", FAMILIES[:5], ids=lambda family: type(family).__name__)
def test_agrees_with_the_kernel_expansion(family):
    """For alpha chosen without the units, E is the kernel's sum within 5 standard errors."""
    kernel = closed_form(family)
    rows, alpha = some(300)
    iterate = fed(iterate_of(GrowingPool(8, 20.0, 1_000), family), rows, alpha, shrink_after=100)
    alpha[:101] *= 0.25
    assert iterate.n_units == 1_000  # nearly all are newcomers
    for x in np.random.default_rng(7).standard_normal((8, 3)):
        estimate = iterate.estimate(x, 0)
        assert estimate.draws == 1_000
        assert abs(estimate.value - alpha @ kernel(rows, x)) < 5 * estimate.standard_error


def test_unbiased_for_what_a_stream_has_learned():
    """New units are drawn independently of alpha: their mean is the kernel's sum (5 s.e.)."""
    model = ShrinkingGradient(
        GaussianFourier(0.5), estimator=GrowingPool(32, 1.0, 10_000), step=0.5, seed=0
    )
    rng = np.random.default_rng(1)
    rows, alpha = [], []
    for _ in range(500):
        x = rng.uniform(-1.5, 1.5, 2)
        y = math.sin(2 * x[0]) * math.cos(x[1])
        model.learn_one({"a": x[0], "b": x[1]}, y)
        alpha.append(0.5 * (y - model.last_update.estimate.value))
        rows.append(x)
    rows, alpha = np.array(rows), np.array(alpha)
    units = ridge_units(GaussianFourier(0.5), 2, np.random.SeedSequence(0).generate_state(2, "u8"))
    newcomers = units.expansion(slice(10_000, 14_000), rows, alpha)
    layer = units.layer(np.ones(14_000), 2)
    R = model.iterate.n_units  # these are the model's own units, as far as it has them
    np.testing.assert_array_equal(model.finite_layer()[0].omega, layer.omega[:R])
    for x in rng.uniform(-1.5, 1.5, (5, 2)):
        psi = np.cos(layer.omega[10_000:] @ x + layer.b[10_000:])
        terms = newcomers * psi
        exact = alpha @ closed_form(GaussianFourier(0.5))(rows, x)
        assert abs(terms.mean() - exact) < 5 * terms.std() / math.sqrt(4_000)


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
            model.learn_one(dict(zip("abc", x.tolist(), strict=True)), y)
            losses[name] += model.last_update.loss * (t >= 750)
    assert losses["grown"] < 0.8 * losses["forgetful"]
    assert losses["grown"] < 0.5 * losses["small"]


def test_with_a_budget_newcomers_know_what_is_kept():
    """A new unit's weight is the sum over the kept points; older weights don't change."""
    rows, alpha = some(200)
    iterate = iterate_of(GrowingPool(4, 1.0, 100), budget=10)
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


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_copies_go_on_alike(copied):
    """A copy in mid-stream learns the rest exactly as the original does, new units included."""
    original = ShrinkingGradient(
        ArcCosine(), estimator=GrowingPool(8, 1.0, 70), step=0.5, budget=50, seed=9
    )
    rng = np.random.default_rng(2)
    twin = None
    for k in range(300):
        x = {f"x{j}": v for j, v in enumerate(rng.standard_normal(2 + k // 50).tolist())}
        if k == 60:
            twin = copied(original)
        for model in filter(None, (original, twin)):
            model.learn_one(x, math.tanh(x["x0"]))
            model.predict_one({**x, "unseen": 1.0})
    assert pickle.dumps(original) == pickle.dumps(twin)


def test_predicting_changes_nothing():
    """Predictions leave no state."""
    model = ShrinkingGradient(estimator=GrowingPool(4, 1.0, 50), step=0.5, seed=0)
    for k in range(100):
        model.learn_one({"a": k / 30}, 0.5)
        before = pickle.dumps(model)
        model.predict_one({"a": 0.2, "new": 1.0, "newer": -3.0})
        assert pickle.dumps(model) == before


def test_may_be_named():
    """`growing-pool` is one of the estimators' names."""
    model = ShrinkingGradient(estimator="growing-pool", step=0.5, seed=0)
    model.learn_one({"a": 1.0}, 0.5)
    assert model.iterate.n_units == GrowingPool().size


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 1}, "size = 1"),
        ({"growth": 0.0}, "growth = 0.0"),
        ({"growth": math.nan}, "growth = nan"),
        ({"max_features": 10}, "max_features = 10 must be at least size = 64"),
    ],
)
def test_parameters_are_checked(arguments, message):
    """Invalid arguments are rejected by name."""
    with pytest.raises(ValueError, match=message):
        GrowingPool(**arguments)


def test_other_families_are_refused():
    """The message names the class that needs them."""
    with pytest.raises(ValueError, match="GrowingPool needs ridge units"):
        ShrinkingGradient(DecisionStumps(), estimator=GrowingPool())
