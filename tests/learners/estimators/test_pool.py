import copy
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from support.iterates import context

from iln_stream.features import (
    AffineFeatures,
    ArcCosine,
    CauchyFourier,
    DecisionStumps,
    Erf,
    GaussianFourier,
    LaplacianFourier,
    Mixture,
    Sigmoid,
    Tanh,
    closed_form,
)
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

FAMILIES = [
    GaussianFourier(),
    LaplacianFourier(),
    CauchyFourier(),
    Erf(),
    Tanh(),
    Sigmoid(),
    ArcCosine(),
]
families = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family).__name__)


def named(x):
    """A row as a dict: x0, x1, ..."""
    return {f"x{j}": v for j, v in enumerate(x.tolist())}


@families
def test_theta_is_the_sum_over_all_events(family):
    """theta = sum_i alpha_i psi(x_i; w) through shrinks and new columns, relative error 1e-5."""
    model = ShrinkingGradient(family, estimator=Pool(32), norm_bound=0.01, step=0.7, seed=0)
    rng = np.random.default_rng(1)
    alpha, rows = [], []
    for t in range(2_000):
        x = np.append(rng.uniform(-2, 2, 3 + t // 1_000), np.zeros(1 - t // 1_000))
        y = math.sin(2 * x[0])
        model.learn_one(named(x[: 3 + t // 1_000]), y)
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


@pytest.mark.parametrize(
    "family",
    [GaussianFourier(0.3), LaplacianFourier(0.3), CauchyFourier(0.3), Erf(), ArcCosine(3.0)],
    ids=lambda family: type(family).__name__,
)
def test_agrees_with_the_kernel_expansion(family):
    """For alpha chosen without the pool, E is the kernel's sum within 5 standard errors."""
    rng = np.random.default_rng(3)
    rows, alpha = rng.standard_normal((200, 3)), rng.standard_normal(200)
    iterate = Pool(5_000).start(context(family))
    for k, (x, a) in enumerate(zip(rows, alpha, strict=True)):
        iterate.append(x, a)
        if k == 100:
            iterate.shrink(0.25)
    alpha[:101] *= 0.25
    for x in rng.standard_normal((10, 3)):
        estimate = iterate.estimate(x, 0)
        exact = alpha @ closed_form(family)(rows, x)
        assert abs(estimate.value - exact) < 5 * estimate.standard_error


def test_predicting_new_columns_changes_nothing():
    """Predictions leave no state: copies stay equal bit for bit."""
    model = ShrinkingGradient(estimator=Pool(16), step=0.5, seed=0)
    for k in range(30):
        model.learn_one({"a": k / 30}, 0.5)
        before = pickle.dumps(model)
        model.predict_one({"a": 0.2, "new": 1.0, "newer": -3.0})
        assert pickle.dumps(model) == before


@pytest.mark.parametrize("copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy])
def test_copies_go_on_alike(copied):
    """A copy in mid-stream learns the rest exactly as the original does, new columns included."""
    original = ShrinkingGradient(estimator=Pool(64), step=0.5, seed=9)
    rng = np.random.default_rng(2)
    twin = None
    for k in range(200):
        x = {f"x{j}": v for j, v in enumerate(rng.standard_normal(2 + k // 50).tolist())}
        if k == 100:
            twin = copied(original)
        for model in filter(None, (original, twin)):
            model.learn_one(x, math.tanh(x["x0"]))
    assert pickle.dumps(original) == pickle.dumps(twin)


def test_learns():
    """On a smooth target the pool ends far below the zero predictor."""
    model = ShrinkingGradient(GaussianFourier(0.7), estimator=Pool(256), step=0.6, seed=1)
    rng = np.random.default_rng(0)
    losses, zero = [], []
    for _ in range(1_000):
        a, b = rng.uniform(-1.5, 1.5, 2).tolist()
        y = 0.8 * math.sin(2 * a) * math.cos(b)
        model.learn_one({"a": a, "b": b}, y)
        losses.append(model.last_update.loss)
        zero.append(y * y / 2)
    assert np.mean(losses[500:]) < 0.05 * np.mean(zero[500:])


def test_memory_does_not_grow():
    """State is theta and a few numbers, for any number of events."""
    model = ShrinkingGradient(estimator=Pool(64), step=0.1, seed=0)
    sizes = []
    for k in range(4_000):
        model.learn_one({"a": math.sin(k)}, math.cos(k))
        if k in (100, 3_999):
            sizes.append(len(pickle.dumps(model)))
    assert sizes[1] - sizes[0] < 100


class Unknown(AffineFeatures):
    """Affine units with an unknown activation."""

    activation = "swish"
    q = 1.0

    def draw(self, n, d, rng):
        raise NotImplementedError


@pytest.mark.parametrize(
    "family",
    [DecisionStumps(), Mixture((GaussianFourier(),)), Unknown()],
    ids=lambda family: type(family).__name__,
)
def test_other_families_are_refused(family):
    """A family whose units can't be kept raises at once; the message lists others."""
    with pytest.raises(ValueError, match=r"Pool needs ridge units.*ArcCosine"):
        ShrinkingGradient(family, estimator=Pool(8))


def test_size_is_checked():
    """A pool of one unit has no spread from which to estimate its error."""
    with pytest.raises(ValueError, match="size = 1"):
        Pool(1)
