"""Weights of events: what each learner does with `w`."""

import math

import numpy as np
import pytest
from river import linear_model, neighbors

from iln_stream.learners import model_of, state_of
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.state import to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")


LEARNERS = {
    "fast": lambda: InfiniteLayerRegressor("fast", seed=1),
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
    "ridge": lambda: RandomFeatureRidge(64, forgetting=0.999, seed=1),
    "classifier": lambda: InfiniteLayerClassifier(seed=1),
    "fast classifier": lambda: InfiniteLayerClassifier(seed=1, profile="fast"),
    "sampled": lambda: ScaledTarget(WinsorisedScaler() | ShrinkingGradient(max_draws=200, seed=1)),
}

CATEGORIES = "fast", "accurate", "classifier", "fast classifier"
"""Learners with a table of effects of hashed categories."""


def events(name, n, seed=0, categories=0):
    """Inputs and labels: numbers, or classes for the classifier; and perhaps a category."""
    rng = np.random.default_rng(seed)
    for row, noise in zip(rng.normal(size=(n, 3)).tolist(), rng.normal(size=n), strict=True):
        y = math.sin(2.0 * row[0]) + row[1] * row[2] + 0.1 * float(noise)
        x = dict(zip("abc", row, strict=True))
        if categories:
            x[f"id={rng.integers(categories)}"] = 1.0
        yield x, ("low" if y < 0.0 else "high") if "classifier" in name else y


def predicted(model, x):
    """The prediction as numbers."""
    if isinstance(model, InfiniteLayerClassifier):
        return list(model.predict_proba_one(x).values())
    return [model.predict_one(x)]


@pytest.mark.parametrize("name", LEARNERS)
def test_weight_one_is_no_weight(name):
    """Predictions and states are the same bits, with no field for weights."""
    model, weighted = LEARNERS[name](), LEARNERS[name]()
    for x, y in events(name, 100, categories=50 if name in CATEGORIES else 0):
        assert predicted(model, x) == predicted(weighted, x)
        model.learn_one(x, y)
        weighted.learn_one(x, y, w=1)
    assert to_bytes(state_of(weighted)) == to_bytes(state_of(model))


@pytest.mark.parametrize(
    ("name", "n"),
    [("fast", 60), ("fast", 300), ("accurate", 60), ("ridge", 200), ("classifier", 60)],
)
def test_weighted_learners_resume_bit_for_bit(name, n):
    """A state has the weights of all events that are learned again: in memories and rings, and at
    the beginning, when the engine may begin anew."""
    model, rng = LEARNERS[name](), np.random.default_rng(1)
    some = list(events(name, n + 100, categories=90 if name in CATEGORIES else 0))
    weights = rng.choice([0.0, 0.5, 1.0, 30.0], size=len(some)).tolist()
    for (x, y), w in zip(some[:n], weights[:n], strict=True):
        model.learn_one(x, y, w)
    twin = model_of(state_of(model))
    for (x, y), w in zip(some[n:], weights[n:], strict=True):
        assert predicted(twin, x) == predicted(model, x)
        model.learn_one(x, y, w)
        twin.learn_one(x, y, w)
    assert to_bytes(state_of(twin)) == to_bytes(state_of(model))


@pytest.mark.parametrize("name", LEARNERS)
def test_wrong_weights(name):
    """They raise an error that names w, and nothing is learned."""
    model = LEARNERS[name]()
    for x, y in events(name, 30):
        model.learn_one(x, y)
    before = to_bytes(state_of(model))
    for w in (-1.0, math.nan, math.inf, 2e6, "much", None):
        with pytest.raises(ValueError, match=r"^w .*must be a (weight|number)"):
            model.learn_one(x, y, w)
    assert to_bytes(state_of(model)) == before


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("fast", "all"),
        ("fast", "some"),
        ("accurate", "some"),
        pytest.param("classifier", "some", marks=pytest.mark.thorough),
    ],
)
def test_weights_of_a_thousand(name, weights):
    """Errors are not twice those without if all events have it, nor four times if a few have."""
    n, errors = 500, {}
    heavy = np.random.default_rng(2).random(n) < (1.0 if weights == "all" else 0.01)
    for weighted in (False, True):
        model, errors[weighted] = LEARNERS[name](), []
        for (x, y), is_heavy in zip(events(name, n), heavy, strict=True):
            p = predicted(model, x)
            assert np.isfinite(p).all()
            if "classifier" in name:
                errors[weighted].append(1.0 - model.predict_proba_one(x).get(y, 0.0))
            else:
                errors[weighted].append(abs(y - p[0]))
            model.learn_one(x, y, 1e3 if weighted and is_heavy else 1.0)
        assert sum(getattr(model, "resets", {}).values()) == 0
    most = 2.0 if weights == "all" else 4.0
    assert np.mean(errors[True][200:]) < most * np.mean(errors[False][200:])


@pytest.mark.parametrize("categories", [0, 90])
def test_a_class_of_weight_zero_is_not_learned(categories):
    """Which class an event of weight 0 has makes no difference, once all are known.

    There are three: of two classes, the last labels are inputs of the networks.
    """
    model = InfiniteLayerClassifier(seed=1)
    some = [(x, round(y)) for x, y in events("", 240, categories=categories)]
    for n, (x, y) in enumerate(some[:200]):
        model.learn_one(x, y % 3 if n > 3 else n % 3)
    twin = model_of(state_of(model))
    for x, y in some[200:]:
        assert predicted(twin, x) == predicted(model, x)
        model.learn_one(x, y % 3, 0.0)
        twin.learn_one(x, (y + 1) % 3, 0.0)
    assert model.n_learned == 240
    for x, y in some[:40]:
        model.learn_one(x, y % 3)
        twin.learn_one(x, y % 3)
        assert predicted(twin, x) == predicted(model, x)


@pytest.mark.thorough
def test_class_weights_on_rare_positives():
    """With 1 % positives of weight 20 probabilities rise, and so the weighted log loss falls."""
    rng, n = np.random.default_rng(3), 1_500
    X = rng.normal(size=(n, 3))
    positive = rng.random(n) < 1.0 / (1.0 + np.exp(6.5 - 2.0 * X[:, 0] - X[:, 1]))
    assert 0.008 < positive.mean() < 0.02
    found = {}
    for weight in (1.0, 20.0):
        model, losses, mean = InfiniteLayerClassifier(seed=1), [], []
        for row, y in zip(X.tolist(), positive.tolist(), strict=True):
            x = dict(zip("abc", row, strict=True))
            p = model.predict_proba_one(x)
            losses.append(-math.log(max(p.get(y, 0.0), 1e-15)) * (20.0 if y else 1.0))
            mean.append(p.get(True, 0.0))
            model.learn_one(x, y, w=weight if y else 1.0)
        found[weight] = np.mean(losses[700:]), np.mean(mean[700:])
    assert found[20.0][0] < 0.8 * found[1.0][0]
    assert found[1.0][1] < 0.03
    assert 4.0 * found[1.0][1] < found[20.0][1] < 20.0 * found[1.0][1]


@pytest.mark.parametrize("name", ["fast", "accurate"])
def test_weighted_events_win(name):
    """Of two functions on the same inputs, the one with 20 times the weight is learned."""
    model, errors = LEARNERS[name](), []
    for n, (x, y) in enumerate(events(name, 800)):
        if n % 2:
            errors.append(abs(model.predict_one(x) - (y + 5.0)))
        model.learn_one(x, y + 5.0 if n % 2 else y - 5.0, 20.0 if n % 2 else 1.0)
    assert np.mean(errors[200:]) < 2.0  # 5 without weights: the mean of both


@pytest.mark.parametrize(
    ("name", "delay"),
    [
        ("fast", 0),
        ("fast", 7),
        pytest.param("accurate", 7, marks=pytest.mark.thorough),
        ("ridge", 0),
        ("classifier", 0),
    ],
)
def test_late_labels_have_weights(name, delay):
    """A weight of 1 is none; where no other label came since, another one is that of `learn_one`;
    and where some did, it counts."""
    some = list(events(name, 100, categories=50 if name in CATEGORIES else 0))
    models = [LEARNERS[name]() for _ in range(4)]
    tokens = [[] for _ in models]
    for n, (x, _) in enumerate(some):
        for model, own in zip(models, tokens, strict=True):
            own.append(model.predict_token(x)[1])
        if n >= delay:
            x, y = some[n - delay]
            models[0].learn_token(x, tokens[0][n - delay], y)
            models[1].learn_token(x, tokens[1][n - delay], y, w=1.0)
            models[2].learn_token(x, tokens[2][n - delay], y, w=5.0 if n % 2 else 0.1)
            models[3].learn_one(x, y, w=5.0 if n % 2 else 0.1)
    states = [to_bytes(state_of(model)) for model in models]
    assert states[0] == states[1] != states[2]
    assert (states[2] == states[3]) is (delay == 0)


def test_algorithm_1_weighs_its_step():
    """alpha is eta w (y - E) for weights up to 1; above, w counts relative to its mean square."""
    model = ShrinkingGradient(estimator="exact", step=0.25, seed=1)
    alphas, squares = [], 0.0
    for n, w in enumerate([1.0, 0.5, 3.0, 1.0, 100.0, 0.2], start=1):
        x = {"a": n / 3.0}
        E = model.predict_one(x)
        model.learn_one(x, 0.9, w)
        squares += w * w
        alphas.append(min(0.25 * w / math.sqrt(max(squares / n, 1.0)), 1.0) * (0.9 - E))
    assert model.alpha_l1 == pytest.approx(np.abs(alphas).sum())
    assert alphas[2] > 0.0


@pytest.mark.parametrize("estimator", ["exact", "pool", "averaged"])
def test_algorithm_1_without_weight_only_shrinks(estimator):
    """An event of weight 0 joins no support, but the test of |E| is made, and may shrink."""
    model = ShrinkingGradient(estimator=estimator, norm_bound=0.01, step=1.0, seed=1)
    for _ in range(3):
        model.learn_one({"a": 1.0}, 0.01)
    before = model.alpha_l1, model.n_support
    model.learn_one({"a": 1.0}, 9.0, 0.0)
    assert (model.alpha_l1, model.n_support, model.n_shrinks) == (*before, 0)
    model.learn_one({"a": 1.0}, 100.0)
    before = model.alpha_l1, model.n_support
    model.learn_one({"a": 1.0}, 9.0, 0.0)
    assert (model.alpha_l1, model.n_support) == (pytest.approx(before[0] / 4.0), before[1])
    assert model.n_shrinks == 1
    assert model.n_seen == 6


@pytest.mark.parametrize("estimator", ["exact", "pool"])
def test_equal_weights_above_one_are_none(estimator):
    """The steps of Algorithm 1 are then those without weights."""
    model, weighted = (ShrinkingGradient(estimator=estimator, seed=1) for _ in range(2))
    for n in range(40):
        x, y = {"a": math.sin(n), "b": n % 3}, math.cos(n)
        assert weighted.predict_one(x) == pytest.approx(model.predict_one(x), abs=1e-9)
        model.learn_one(x, y)
        weighted.learn_one(x, y, 1e3)


def test_a_scaled_target_passes_weights_on():
    """Its statistics are of all events alike; a regressor without weights refuses them."""
    model = ScaledTarget(linear_model.LinearRegression())
    alone = linear_model.LinearRegression()
    for n, w in enumerate([1.0, 3.0, 0.5]):
        model.learn_one({"a": n}, 2.0 * n, w)
        alone.learn_one({"a": n}, model.scaled(2.0 * n), w=w)
    assert dict(model.regressor.weights) == dict(alone.weights) != {}
    assert model.moments.mean == pytest.approx(2.0)
    with pytest.raises(TypeError, match="w"):
        ScaledTarget(neighbors.KNNRegressor()).learn_one({"a": 1.0}, 1.0, 2.0)


@pytest.mark.parametrize("name", ["fast", "accurate", "classifier"])
def test_broken_weights_become_one(name):
    """What was remembered heals with its weights, and learning goes on from finite numbers."""
    model, some = LEARNERS[name](), list(events(name, 500))
    for n, (x, y) in enumerate(some[:200]):
        model.learn_one(x, y, 1.0 + n % 2)
    engine = model._engine
    if name == "fast":
        broken = [engine.memory[:, -1]]
        engine.theta[:] = np.nan
    else:
        broken = [engine.memory.weights, engine.networks.ring._weights]
    assert all(weights[:6].tolist() == [1.0, 2.0] * 3 for weights in broken)
    for weights in broken:
        weights[3] = np.nan
    for x, y in some[200:]:
        assert np.isfinite(predicted(model, x)).all()
        model.learn_one(x, y)
    assert sum(model.resets.values()) > 0
    remembered = engine.memory if name == "fast" else engine.memory.weights
    assert np.isfinite(remembered).all()
    assert all(weights[:6].tolist() == [1.0, 2.0, 1.0, 1.0, 1.0, 2.0] for weights in broken)


def test_the_first_events_are_learned_again_with_their_weights():
    """So an engine that begins anew, as a field is hashed as a whole, has learned their weights."""
    states = []
    for w in (1.0, 4.0):
        model = InfiniteLayerRegressor("fast", seed=1)
        for n, (x, y) in enumerate(events("fast", 80)):
            model.learn_one({**x, f"id={n}": 1.0}, y, w if n < 20 else 1.0)
        assert model.n_hashed > 0
        beginning = model.state()["beginning"]
        assert beginning.get("weights", [])[:20] == ([w] * 20 if w != 1.0 else [])
        states.append(model._engine.memory[:20, -1].tolist())
    assert states[1] == [4.0] * 20 != states[0]
