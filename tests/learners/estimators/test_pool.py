import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream import Pool, ShrinkingGradient
from iln_stream.features import DecisionStumps, GaussianFourier, LaplacianFourier, closed_form
from iln_stream.learners.estimators.pool import CosineUnits

KEY = np.array([3, 4], dtype=np.uint64)


def reference_psi(units: CosineUnits, x: np.ndarray) -> np.ndarray:
    """The units in double precision, by numpy alone."""
    units._psi_at(x)  # draws the columns
    omega = units._omega[: len(x)].astype(np.float64)
    return np.cos(2 * np.pi * (x @ omega + units._b.astype(np.float64)))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-10, 10), max_size=20))
def test_psi_equals_numpy(values):
    """The compiled cosines are numpy's to single precision."""
    x = np.array(values)
    units = CosineUnits(64, 1.0, KEY)
    np.testing.assert_allclose(units._psi_at(x), reference_psi(units, x), rtol=0, atol=2e-5)


def test_psi_is_bounded_and_finite_for_huge_inputs():
    """Phases of 1e15 mean nothing, but still give a cosine."""
    psi = CosineUnits(64, 10.0, KEY)._psi_at(np.full(5, 1e15))
    assert np.isfinite(psi).all()
    assert np.abs(psi).max() <= 1 + 1e-6


def test_law_of_the_units():
    """A large pool's mean product is the family's kernel (5 standard errors)."""
    family, R = GaussianFourier(0.4), 200_000
    rng = np.random.default_rng(0)
    X, x = rng.standard_normal((4, 3)), rng.standard_normal(3)
    units = CosineUnits(R, family.scale(3), KEY)
    at_x = units._psi_at(x).astype(np.float64)
    for x_i, k in zip(X, closed_form(family)(X, x), strict=True):
        products = units._psi_at(x_i) * at_x
        assert abs(products.mean() - k) < 5 * products.std() / math.sqrt(R)


def test_theta_is_the_sum_over_all_events():
    """theta = sum_i alpha_i psi(x_i; w) through shrinks, to a relative error of 1e-5."""
    model = ShrinkingGradient(estimator=Pool(32), norm_bound=0.01, step=0.7, seed=0)
    rng = np.random.default_rng(1)
    alpha, rows = [], []
    for _ in range(2_000):
        x = rng.uniform(-2, 2, 3)
        named = dict(zip("abc", x.tolist(), strict=True))
        y = math.sin(2 * x[0])
        model.learn_one(named, y)
        last = model.last_update
        if last.shrunk:
            alpha = [a / 4 for a in alpha]
        else:
            alpha.append(0.7 * (y - last.estimate.value))
            rows.append(x)
    assert model.n_shrinks > 10
    psi = np.stack([reference_psi(model._f._units, x) for x in rows])
    theta = np.array(alpha) @ psi
    error = np.abs(model._f._theta - theta).max() / np.abs(theta).max()
    assert error < 1e-5
    assert model.alpha_l1 == pytest.approx(np.abs(alpha).sum())


def test_estimate_is_the_mean_of_theta_psi():
    """E and its standard error are those of the R terms."""
    model = ShrinkingGradient(estimator=Pool(128), step=0.5, seed=0)
    for a in (0.1, -0.4, 0.9):
        model.learn_one({"a": a, "b": 1.0}, a)
    terms = model._f._theta * reference_psi(model._f._units, np.array([0.3, 1.0]))
    estimate = model.estimate({"a": 0.3, "b": 1.0})
    assert estimate.value == pytest.approx(terms.mean(), rel=1e-5)
    assert estimate.standard_error == pytest.approx(terms.std(ddof=1) / math.sqrt(128), rel=1e-4)
    assert estimate.draws == 128


def test_columns_may_come_in_any_order():
    """A column's frequencies don't depend on when, or with how many others, it was first seen."""
    at_once, one_by_one = (CosineUnits(16, 1.0, KEY) for _ in range(2))
    for d in (1, 2, 3, 4):
        one_by_one._psi_at(np.ones(d))
    assert (at_once._psi_at(np.ones(4)) == one_by_one._psi_at(np.ones(4))).all()


def test_predicting_new_columns_changes_nothing():
    """What only a prediction has seen is no state: copies stay equal bit for bit."""
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
    """State is theta and a few numbers, whatever the number of events."""
    model = ShrinkingGradient(estimator=Pool(64), step=0.1, seed=0)
    sizes = []
    for k in range(4_000):
        model.learn_one({"a": math.sin(k)}, math.cos(k))
        if k in (100, 3_999):
            sizes.append(len(pickle.dumps(model)))
    assert sizes[1] - sizes[0] < 100


@pytest.mark.parametrize("family", [DecisionStumps(), LaplacianFourier()])
def test_other_families_are_refused(family):
    """A family that the pool can't evaluate is refused when the learner is made."""
    with pytest.raises(ValueError, match="Pool asks for random Gaussian cosines"):
        ShrinkingGradient(family, estimator=Pool(8))


def test_size_is_checked():
    """A pool of one unit has no spread to tell its error by."""
    with pytest.raises(ValueError, match="size = 1"):
        Pool(1)
