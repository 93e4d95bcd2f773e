"""Hashed categories of both learners: whatever happens to a learner, they go with it."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.errors import IlnWarning
from iln_stream.learners import InfiniteLayerClassifier, InfiniteLayerRegressor, model_of, state_of
from iln_stream.learners.infinite_layer.base import column_of
from iln_stream.learners.infinite_layer.hashed_categories import COLUMNS_PER_FIELD, YOUNG
from iln_stream.state import from_bytes, to_bytes

pytestmark = pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")

LEARNERS = [
    pytest.param(InfiniteLayerRegressor("fast", seed=1), id="fast"),
    pytest.param(InfiniteLayerRegressor(seed=1), id="accurate"),
    pytest.param(InfiniteLayerClassifier(seed=1), id="classifier"),
    pytest.param(InfiniteLayerClassifier(seed=1, profile="fast"), id="fast-classifier"),
]


SOME_LEARNERS = [
    *LEARNERS[:2],
    pytest.param(*LEARNERS[2].values, id=LEARNERS[2].id, marks=pytest.mark.thorough),
    LEARNERS[3],
]
"""The accurate classifier, which takes longest, is left to `make test-thorough`."""


def stream(n, n_ids=60, seed=0):
    """Events of two fields, one of them of 3 categories, and two numbers; targets are classes."""
    rng = np.random.default_rng(seed)
    effects = rng.integers(-1, 2, n_ids)
    for _ in range(n):
        i, a, b = int(rng.integers(n_ids)), float(rng.normal()), float(rng.normal())
        sky = f"sky={'abc'[int(rng.integers(3))]}"
        x = {"a": a, f"id={i}": 1.0, sky: 1.0, "b": b}
        yield x, int(np.clip(effects[i] + (a > 0.0), 0, 1))


def learned(learner, n, **options):
    learner = learner.clone()
    for x, y in stream(n, **options):
        learner.learn_one(x, y)
    return learner


def predicted(learner, events):
    predict = getattr(learner, "predict_proba_one", None) or learner.predict_one
    return [predict(x) for x, _ in events]


def pickled(learner):
    return pickle.loads(pickle.dumps(learner))


def restored(learner):
    return model_of(from_bytes(to_bytes(state_of(learner))))


def numbers(predictions):
    return [list(p.values()) if isinstance(p, dict) else p for p in predictions]


EVENTS = list(stream(30, seed=5))


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    "again",
    [
        *(pytest.param(each, marks=pytest.mark.thorough) for each in (copy.deepcopy, pickled)),
        restored,
    ],
)
@settings(max_examples=3, deadline=None)
@given(data=st.data())
def test_a_restart_changes_no_bit(learner, again, data):
    """Copied, pickled or saved anywhere, before, at and after the first hashed name, a learner
    predicts and learns as if it had gone on; so does one whose last act was a prediction."""
    n = data.draw(st.integers(0, 90))
    one = learned(learner, n)
    predicted(one, EVENTS[: data.draw(st.integers(0, 2))])
    two = again(one)
    for x, y in EVENTS:
        assert predicted(one, [(x, y)]) == predicted(two, [(x, y)])
        one.learn_one(x, y)
        two.learn_one(x, y)
    assert (one.n_hashed, one.relevance) == (two.n_hashed, two.relevance)
    assert to_bytes(state_of(one)) == to_bytes(state_of(two))


@pytest.mark.parametrize("learner", SOME_LEARNERS)
def test_the_order_of_names_does_not_matter(learner):
    """Neither the order of keys nor a prediction before the label changes a bit."""
    one, two = learner.clone(), learner.clone()
    for k, (x, y) in enumerate(stream(90)):
        x |= {f"shop={k % 70}": 1.0, f"shop={k % 41}": 1.0}  # several hashed names in an event
        one.learn_one(x, y)
        predicted(two, [(x, y)])
        two.learn_one(dict(reversed(x.items())), y)
    assert predicted(one, EVENTS) == predicted(two, EVENTS)
    assert one.n_hashed > 20


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_field_of_few_categories_is_the_engines_alone(learner):
    """Up to 32 categories of a field nothing is hashed, and every bit is the engine's."""
    model = learned(learner, 200, n_ids=COLUMNS_PER_FIELD)
    engine = learner.clone()._engine
    label = int if isinstance(learner, InfiniteLayerClassifier) else float
    for x, y in stream(200, n_ids=COLUMNS_PER_FIELD):
        engine.learn(x, label(y))
    assert predicted(model, EVENTS) == [engine.predict(x) for x, _ in EVENTS]
    assert (model.n_hashed, model.n_hashed_names, model.occupied_cells) == (0, 0.0, 0.0)
    assert model.state()["categories"] is None


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_new_category_is_predicted_by_the_engine(learner):
    """A name that was never learned changes no prediction: it is as if it were absent."""
    model = learned(learner, 200, n_ids=100)
    x = {"a": 0.3, "b": -0.4, "sky=a": 1.0}
    new = predicted(model, [(x | {"id=never": 1.0}, 0)])
    if model.__dict__.get("profile") == "accurate":  # its engine sees an effect of 0
        x |= {column_of("id"): 0.0}
    assert np.allclose(numbers(new), numbers(predicted(model, [(x, 0)])), rtol=1e-12)


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_first_category_hashed_is_warned_of(learner):
    """There is one warning for a field, which names it, and none from a restored learner. Where
    warnings are errors, that event is not learned, and learning goes on."""
    model = learner.clone()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(COLUMNS_PER_FIELD):
            model.learn_one({f"id={k}": 1.0}, k % 2)
        with pytest.raises(IlnWarning):
            model.learn_one({"id=x": 1.0}, 1)
    assert (model.n_learned, model.n_hashed) == (COLUMNS_PER_FIELD, 0)
    model = learner.clone()
    with pytest.warns(IlnWarning, match="the field 'id' has more categories") as told:
        for k in range(COLUMNS_PER_FIELD + 8):
            model.learn_one({f"id={k}": 1.0}, k % 2)
    assert (len(told), model.n_hashed, model.n_overflowed) == (1, COLUMNS_PER_FIELD + 8, 0)
    assert model.n_hashed_names == pytest.approx(COLUMNS_PER_FIELD + 8, rel=0.1)
    assert 0.0 < model.occupied_cells < 0.003
    again = restored(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.learn_one({"id=new": 1.0}, 1)
    assert again.n_hashed == COLUMNS_PER_FIELD + 9


@pytest.mark.parametrize("learner", LEARNERS)
def test_bad_inputs_change_nothing(learner):
    """An event with a hashed name and a value that is not finite raises, and leaves no trace."""
    model = learned(learner, 90)
    before = to_bytes(state_of(model))
    for x in ({"id=new": 1.0, "a": float("nan")}, {"id=new": float("nan")}):
        with pytest.raises(ValueError, match="finite"):
            model.learn_one(x, 1)
    assert to_bytes(state_of(model)) == before


@pytest.mark.parametrize("learner", SOME_LEARNERS)
def test_effects_are_learned_and_relevant(learner):
    """A field of 100 categories that decides the target alone is nearly all of the relevance."""
    rng = np.random.default_rng(0)
    effects = rng.integers(0, 2, 100)
    model, errors = learner.clone(), []
    for i in rng.integers(100, size=1_000).tolist():
        x = {"a": float(rng.normal()), f"id={i}": 1.0}
        if isinstance(model, InfiniteLayerClassifier):
            errors.append(1.0 - model.predict_proba_one(x).get(int(effects[i]), 0.0))
        else:
            errors.append(abs(model.predict_one(x) - effects[i]))
        model.learn_one(x, int(effects[i]))
    assert np.mean(errors[500:]) < 0.5 * np.mean(errors[:100])
    assert sum(model.relevance.values()) == pytest.approx(1.0)
    assert model.relevance["id"] > 0.5


def test_memory_is_bounded():
    """Of endless new categories the state stays below 4 MB, and their number is estimated."""
    model = InfiniteLayerRegressor("fast", seed=1)
    for k in range(20_000):
        model.learn_one({"a": float(k % 7), f"id={k}": 1.0}, float(k % 7))
    assert model.n_hashed_names == pytest.approx(20_000, rel=0.1)
    assert len(to_bytes(model.state()["categories"])) < 4e6
    assert len(model._engine.inputs) == 1


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_engine_begins_anew_without_columns_of_ids(learner):
    """A field of ids, seen as such within 128 events, leaves no column that costs time; after
    that its columns stay. Both engines have learned all events."""
    for first, width in (("id=0", 2), ("a", 2 + COLUMNS_PER_FIELD)):
        model = learner.clone()
        model.learn_one({first: 1.0}, 1)
        for k in range(60):
            model.learn_one({"a": float(k % 5), "b": 1.0, f"id={k}": 1.0}, k % 2)
        effects = sum(isinstance(name, tuple) for name in model._engine.inputs.columns.place)
        assert len(model._engine.inputs) - effects == width
        assert model.n_learned == 61


def test_a_seed_drawn_by_chance_survives_a_new_beginning():
    """Without a seed the engine that begins anew draws the units that it had; restored, too."""
    model = InfiniteLayerRegressor("fast")
    events = list(stream(100))
    for x, y in events[:20]:
        model.learn_one(x, y)
    twin = restored(model)
    for x, y in events[20:]:
        model.learn_one(x, y)
        twin.learn_one(x, y)
    assert model.n_hashed > 0
    assert predicted(model, EVENTS) == predicted(twin, EVENTS)


def test_categories_learned_long_ago_keep_their_columns():
    """A field that gets its 33rd category late keeps the first 32 in columns."""
    model = InfiniteLayerRegressor("fast", seed=1)
    for k in range(YOUNG + 200):
        model.learn_one({f"id={k % COLUMNS_PER_FIELD}": 1.0}, float(k % COLUMNS_PER_FIELD))
    model.learn_one({"id=late": 1.0}, 40.0)
    assert model.n_hashed == 1
    assert model.predict_one({"id=3": 1.0}) == model._engine.predict({"id=3": 1.0})
    model.learn_one({"id=3": 1.0}, 3.0)
    assert model.n_hashed == 1


@pytest.mark.parametrize("profile", ["fast", pytest.param("accurate", marks=pytest.mark.thorough)])
def test_intervals_move_with_effects(profile):
    """An interval contains the prediction, and its coverage is kept."""
    rng = np.random.default_rng(3)
    effects, hits = 5.0 * rng.normal(size=100), []
    model = InfiniteLayerRegressor(profile, seed=1)
    for i in rng.integers(100, size=1_000).tolist():
        x, y = {f"id={i}": 1.0}, float(effects[i] + rng.normal())
        low, high = model.predict_interval(x, 0.8)
        assert low <= model.predict_one(x) <= high
        hits.append(low <= y <= high)
        model.learn_one(x, y)
    assert 0.7 < np.mean(hits[300:]) < 0.9


def test_huge_targets_keep_numbers_finite():
    """The largest targets that are allowed leave predictions and the state finite."""
    model = InfiniteLayerRegressor("fast", seed=1)
    for k in range(300):
        model.learn_one({f"id={k % 60}": 1.0}, (-1.0) ** k * 1e150 * (k % 5 == 0) + k)
    model_of(state_of(model))  # refuses a state that is not finite
    assert np.isfinite(model.predict_one({"id=5": 1.0}))


def test_words_without_a_column_are_hashed():
    """A classifier learns what a word says even if all columns are taken; other numbers than 1 are
    left out, and counted."""
    rng, model, right = np.random.default_rng(4), InfiniteLayerClassifier(seed=1, max_columns=3), []
    for i in rng.integers(40, size=400).tolist():
        x = {"and": 1.0, "of": float(rng.integers(2)), "the": 1.0, f"word-{i}": 1.0}
        right.append(model.predict_one(x) == i % 2)
        model.learn_one(x, i % 2)
    assert np.mean(right[200:]) > 0.95
    assert (model.n_hashed, model.n_overflowed) == (400, 0)
    model.learn_one({"word-1": 2.0, "word-2": 0.0}, 1)
    assert (model.n_hashed, model.n_overflowed) == (400, 2)
