"""Frozen infinite-layer learners predict as the learners did."""

import math
from pathlib import Path

import numpy as np
import pytest
from support.prequential import learned

from iln_stream.errors import StateError
from iln_stream.kernels.mixing import WEIGHT
from iln_stream.learners.frozen import FrozenClassifier, FrozenRegressor, freeze_learner
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

ROUNDING = 1e-5
"""Largest difference, as a share of the target's unit or as a probability.

The learners compute units in single precision, whose errors are 2e-7 and weights may multiply.
"""

PROFILES = ["fast", "accurate"]


def regression_event(rng, last):
    """An event whose target depends on the last one, with gaps, ties and categories."""
    z = rng.normal(size=3)
    x = {
        "a": float(z[0]),
        "far": float(1e6 + 100 * z[1]),
        "grid": float(rng.integers(4)),
        f"sky={['clear', 'dark'][rng.integers(2)]}": 1.0,
    }
    if rng.random() < 0.6:
        x["late"] = float(500 + z[2])
    y = 0.9 * last + 40 * z[0] * z[1] + 20 * x["grid"] + 30 * ("sky=dark" in x)
    return x, float(y)


def stream(n, label=float, seed=1):
    rng, y, events = np.random.default_rng(seed), 0.0, []
    for _ in range(n):
        x, y = regression_event(rng, y)
        events.append((x, label(y)))
    return events


ODD = [{}, {"unknown": 1.0}, {"a": -1e12}, {"a": 0.5, "sky=clear": 1.0, "sky=dark": 1.0}]
QUERIES = [*(x for x, _ in stream(100, seed=2)), *ODD]


def error(model, frozen):
    """The largest difference of predictions, in units of the target."""
    return max(abs(frozen.predict_one(x) - model.predict_one(x)) for x in QUERIES) / (
        model.target_unit
    )


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("n", [1, 2, 20, 100, 900])
def test_regressors_predict_the_same(profile, n):
    """From the first event on, with all experts, last targets included."""
    model = learned(InfiniteLayerRegressor(profile, seed=1), stream(n))
    frozen = freeze_learner(model)
    assert isinstance(frozen, FrozenRegressor)
    assert error(model, frozen) < ROUNDING


@pytest.mark.parametrize("profile", PROFILES)
def test_each_expert_predicts_the_same(profile):
    """Also those without weight after this stream: here all weigh the same."""
    model = learned(InfiniteLayerRegressor(profile, seed=1), stream(400))
    engine = model._engine
    if profile == "fast":
        tables = [engine.table]
    else:
        tables = [each.rule.table for each in (engine.moving, engine.mean, engine.mixture)]
    for table in (*tables, *engine.plain.rules):
        table[WEIGHT] = 1.0 / table.shape[1]
    engine.plain.choice[2:4] = 0.5
    assert error(model, freeze_learner(model)) < ROUNDING


@pytest.mark.parametrize("profile", PROFILES)
def test_each_expert_of_a_classifier_predicts_the_same(profile):
    """All weigh the same, and all that can take part in the correction do."""
    model = learned(InfiniteLayerClassifier(seed=1, profile=profile), stream(200, LABELS["three"]))
    engine = model._engine
    engine.rule.table[WEIGHT] = 1.0 / engine.rule.table.shape[1]
    engine.correction.weights[:] = 0.1
    engine.mixture.log_weights[:] = 0.0
    frozen = freeze_learner(model)
    for x in QUERIES:
        assert frozen.predict_proba_one(x) == pytest.approx(
            model.predict_proba_one(x), abs=ROUNDING
        )


@pytest.mark.parametrize("profile", PROFILES)
def test_files_of_0_2_0_predict_as_they_did(profile):
    """Their cards have inputs and what 0.2.0 predicted for these."""
    frozen = FrozenRegressor.load(Path(__file__).parent / "golden" / f"0.2.0-{profile}.npz")
    for x, prediction in frozen.card["predictions"]:
        assert frozen.predict_one(x) == pytest.approx(prediction, rel=1e-6)


@pytest.mark.parametrize("loss", ["absolute", "squared"])
def test_the_last_targets_stay(loss):
    """Persistence and the networks predict by the last targets as of the export."""
    model = InfiniteLayerRegressor(seed=1, loss=loss)
    level = 0.0
    rng = np.random.default_rng(3)
    for _ in range(300):
        level += rng.normal()
        model.learn_one({"a": float(rng.normal())}, level)
    frozen = freeze_learner(model)
    before = frozen.predict_one({"a": 0.0})
    assert before == pytest.approx(model.predict_one({"a": 0.0}), abs=ROUNDING * model.target_unit)
    for _ in range(5):
        model.learn_one({"a": 0.0}, level + 30)
    assert frozen.predict_one({"a": 0.0}) == before
    assert model.predict_one({"a": 0.0}) > before + 3


def test_sleeping_ridges_stay_asleep():
    """Experts that rest do not count, and their weight goes to the others."""
    model = learned(InfiniteLayerRegressor(seed=1), stream(300))
    awake = [model.predict_one(x) for x in QUERIES]
    model._engine.sleepers.resting = True
    model._engine._unbind()
    assert [model.predict_one(x) for x in QUERIES] != awake
    assert error(model, freeze_learner(model)) < ROUNDING


@pytest.mark.parametrize("kind", PROFILES)
def test_constant_targets_and_no_inputs(kind):
    """Streams without scale or without columns are frozen, too."""
    for x in ({"a": 1.0}, {}):
        model = InfiniteLayerRegressor(kind, seed=1)
        for _ in range(40):
            model.learn_one(x, 5.0)
        assert error(model, freeze_learner(model)) < ROUNDING


LABELS = {
    "one": lambda y: "only",
    "two": lambda y: y > 100,
    "three": lambda y: ["low", 7, ("a", 1)][int(abs(y) // 50) % 3],
}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("n", [1, 40, 700])
def test_classifiers_predict_the_same(kind, n, profile):
    """Probabilities agree for one, two and several classes, whatever their types."""
    model = learned(InfiniteLayerClassifier(seed=1, profile=profile), stream(n, LABELS[kind]))
    frozen = freeze_learner(model)
    assert isinstance(frozen, FrozenClassifier)
    for x in QUERIES:
        wanted = model.predict_proba_one(x)
        found = frozen.predict_proba_one(x)
        assert found == pytest.approx(wanted, abs=ROUNDING)
        assert list(found) == list(wanted)
        assert math.fsum(found.values()) == pytest.approx(
            1.0 if len(found) > 1 else (n + 1) / (n + 2)
        )
    assert frozen.predict_one(QUERIES[0]) in frozen.classes


def test_files_are_read_back(tmp_path):
    """Names, classes, card and predictions come back; equal models make equal files."""
    model = InfiniteLayerClassifier(seed=1)
    for t in range(50):
        model.learn_one({"a": t % 5, 3: t % 4}, [True, "x", 2][t % 3])
    frozen = freeze_learner(model, {"name": "m"})
    frozen.save(tmp_path / "m.npz")
    again = FrozenClassifier.load(tmp_path / "m.npz")
    assert (again.names, again.classes, again.card) == ((3, "a"), (True, "x", 2), {"name": "m"})
    x = {"a": 2.0, 3: 1.0}
    assert again.predict_proba_one(x) == frozen.predict_proba_one(x)
    freeze_learner(model, {"name": "m"}).save(tmp_path / "same.npz")
    assert (tmp_path / "m.npz").read_bytes() == (tmp_path / "same.npz").read_bytes()
    with np.load(tmp_path / "m.npz", allow_pickle=False) as arrays:
        assert arrays["parts/stats"].shape == (7, 2)
    with pytest.raises(StateError, match="is not a FrozenRegressor's file"):
        FrozenRegressor.load(tmp_path / "m.npz")


def test_many_points_are_as_one_by_one():
    """Batches of any size, with nan for absent inputs."""
    model = learned(InfiniteLayerRegressor("fast", seed=1), stream(100))
    frozen = freeze_learner(model)
    X = [[x.get(name, math.nan) for name in frozen.names] for x in QUERIES * 3]
    assert frozen.predict_many(X).tolist() == pytest.approx(
        [frozen.predict_one(x) for x in QUERIES * 3]
    )
    assert frozen.predict_many(np.zeros((0, len(frozen.names)))).shape == (0,)


@pytest.mark.parametrize("make", [InfiniteLayerRegressor, InfiniteLayerClassifier])
def test_freezing_changes_nothing(make):
    """The learner goes on as one that was never frozen."""
    frozen, silent = make(seed=1), make(seed=1)
    for x, y in stream(30):
        for model in (frozen, silent):
            model.learn_one(x, int(y) % 3)
        freeze_learner(frozen)
    for x in QUERIES:
        ask = "predict_one" if make is InfiniteLayerRegressor else "predict_proba_one"
        assert getattr(frozen, ask)(x) == getattr(silent, ask)(x)


def test_bad_input_is_refused():
    """Errors name the input or the shape."""
    model = InfiniteLayerRegressor("fast", seed=1)
    model.learn_one({"a": 1.0}, 2.0)
    frozen = freeze_learner(model)
    with pytest.raises(ValueError, match=r"x\['a'\] is nan: inputs must be finite"):
        frozen.predict_one({"a": math.nan})
    with pytest.raises(ValueError, match=r"X has shape \(2,\): it must be \(n, 1\)"):
        frozen.predict_many([1.0, 2.0])
    with pytest.raises(ValueError, match="infinite entries"):
        frozen.predict_many([[math.inf]])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (InfiniteLayerRegressor(seed=1), "learned nothing yet"),
        (InfiniteLayerClassifier(seed=1), "learned nothing yet"),
        (RandomFeatureRidge(seed=1), "RandomFeatureRidge can't be frozen"),
        (ShrinkingGradient(seed=1), "ShrinkingGradient can't be frozen"),
    ],
)
def test_what_can_not_be_frozen(model, message):
    """Other models, and those without a past, are refused."""
    with pytest.raises(ValueError, match=message):
        freeze_learner(model)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_hashed_categories_are_not_frozen():
    """Their effects would be missing in the predictions."""
    model = InfiniteLayerRegressor("fast", seed=1)
    for shop in range(40):
        model.learn_one({f"shop={shop}": 1.0, "a": shop % 3, "sky=grey": 1.0}, shop % 2)
    with pytest.raises(ValueError, match=r"hashes categories of shop, .*iln-stream predict"):
        freeze_learner(model)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_many_fields_with_hashed_categories():
    """An error names some of them, and how many more there are."""
    model = InfiniteLayerClassifier(seed=1)
    for k in range(40):
        model.learn_one({f"{field}={k}": 1.0 for field in "abcdefg"}, k % 2)
    with pytest.raises(ValueError, match="hashes categories of a, b, c, d, e and 2 more, "):
        freeze_learner(model)
