"""State, through files, and back: the restored model and the original must not differ in a bit."""

import io
from dataclasses import dataclass
from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from river import base, compose, linear_model, preprocessing

from iln_stream import (
    GrowingPool,
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    Pool,
    RandomFeatureRidge,
    ScaledTarget,
    ShrinkingGradient,
    WinsorisedScaler,
    features,
)
from iln_stream.errors import StateError
from iln_stream.learners import model_of, restorable, state_of
from iln_stream.learners.estimators import Averaged, Block, Full, Sampled
from iln_stream.learners.parameters import FAMILIES
from iln_stream.state import pack, unpack


def through_files(model, **own):
    """The model as restored from an npz file without pickle, and JSON."""
    arrays, text = pack(state_of(model))
    file = io.BytesIO()
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as loaded:
        return model_of(unpack(loaded, text), **own)


def content(model):
    """The contents of a state, in comparable form."""
    arrays, text = pack(state_of(model))
    return text, {path: (a.dtype, a.shape, a.tobytes()) for path, a in arrays.items()}


def go_on(model, events):
    """A model's predictions and final state."""
    predictions = []
    for x, y in events:
        predictions.append(model.predict_one(x))
        model.learn_one(x, y)
    return predictions, content(model)


gammas = st.none() | st.floats(0.01, 10.0)
FAMILY = st.recursive(
    st.builds(features.GaussianFourier, gammas)
    | st.builds(features.LaplacianFourier, gammas)
    | st.builds(features.DecisionStumps, st.floats(0.5, 5.0))
    | st.builds(features.Erf, st.floats(0.5, 5.0))
    | st.builds(features.RandomNetwork, width=st.integers(1, 4)),
    lambda families: st.lists(families, min_size=1, max_size=3).map(features.Mixture),
    max_leaves=3,
)
SAMPLED = st.fixed_dictionaries(
    {
        "features": st.none() | FAMILY,
        "estimator": st.sampled_from(["sampled", Sampled(), Block(4, 3), Full(4), "block", "full"]),
        "budget": st.none() | st.integers(1, 80),
        "policy": st.sampled_from(["oldest", "smallest", "compress"]),
        "draws": st.none() | st.integers(1, 40),
        "max_draws": st.integers(16, 60),
    }
)
COSINES = st.fixed_dictionaries(
    {
        "estimator": st.sampled_from(
            [Sampled("direct"), Sampled("phase integrated"), Sampled("two normals"), "exact"]
        ),
        "budget": st.none() | st.integers(1, 80),
        "policy": st.sampled_from(["oldest", "smallest", "compress"]),
    }
)
AVERAGED = st.fixed_dictionaries({"estimator": st.sampled_from(["averaged", Averaged()])})
RIDGES = (
    st.builds(features.CauchyFourier, gammas)
    | st.builds(features.ArcCosine, st.none() | st.floats(0.5, 5.0))
    | st.builds(features.Tanh)
    | st.builds(features.Sigmoid)
)
POOLED = st.fixed_dictionaries(
    {
        "features": st.none() | RIDGES,
        "estimator": st.just("pool")
        | st.builds(Pool, st.integers(2, 40))
        | st.builds(GrowingPool, st.integers(2, 8), st.floats(0.1, 2.0), st.integers(8, 60)),
        "budget": st.none() | st.integers(1, 80),
    }
)
COMMON = st.fixed_dictionaries(
    {
        "norm_bound": st.floats(0.01, 4.0),
        "horizon": st.none() | st.integers(1, 1000),
        "step": st.none() | st.floats(0.01, 3.0),
        "max_columns": st.integers(1, 4),
        "seed": st.none() | st.integers(0, 2**70),
    }
)
PARAMETERS = st.builds(lambda a, b: a | b, COMMON, SAMPLED | COSINES | AVERAGED | POOLED)
NAMES = st.sampled_from(["a", "", 'b"', 1, 2.5, None, ("t", 1), "€"])


def wrapped(learner, how):
    if how == "alone":
        return learner
    if how == "pipeline":
        return WinsorisedScaler(clip=float("inf"), max_columns=3) | learner
    return ScaledTarget(WinsorisedScaler() | learner, width=2.0)


@settings(deadline=None, max_examples=60)
@given(
    PARAMETERS,
    st.sampled_from(["alone", "pipeline", "target"]),
    st.lists(NAMES, min_size=1, max_size=4, unique=True),
    st.integers(0, 2**32),
    st.integers(0, 150),
)
@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
def test_restored_goes_on_bit_for_bit(parameters, how, names, seed, cut):
    """For any parameters, stream and cut, all predictions and all bits of the state agree."""
    rng = np.random.default_rng(seed)
    events = [
        ({name: float(rng.normal()) for name in names if rng.random() < 0.8}, float(rng.normal()))
        for _ in range(cut + 30)
    ]
    model = wrapped(ShrinkingGradient(**parameters), how)
    go_on(model, events[:cut])
    restored = through_files(model)
    assert content(restored) == content(model)
    assert go_on(restored, events[cut:]) == go_on(model, events[cut:])


def test_restored_after_compressions_and_shrinks():
    """A long run with a budget, shrinks and sums redone is restored as it is."""
    rng = np.random.default_rng(5)
    model = ShrinkingGradient(norm_bound=0.02, step=0.5, draws=5, budget=30, seed=3)
    events = [({"a": float(rng.normal())}, float(rng.uniform(-1, 1))) for _ in range(700)]
    for x, y in events[:500]:
        model.learn_one(x, y)
    assert model.n_shrinks > 0
    restored = through_files(model)
    assert restored.last_update == model.last_update
    assert go_on(restored, events[500:]) == go_on(model, events[500:])


def test_restored_is_the_same_class_with_the_same_parameters():
    """Parameters come back as they were given: None stays None, and clone starts over from them."""
    mixture = features.Mixture.of_bandwidths((0.1, 1.0))
    model = ShrinkingGradient(mixture, Sampled(), budget=7, seed=None)
    restored = through_files(model)
    assert type(restored) is ShrinkingGradient
    assert restored._get_params() == model._get_params()


def test_a_state_shares_no_memory():
    """A state is a snapshot: further learning changes neither it nor a model restored from it."""
    for estimator in ("sampled", "pool"):
        model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(estimator=estimator, seed=1))
        for t in range(50):
            model.learn_one({"a": t % 7}, t % 5)
        state = state_of(model)
        first = model_of(state)
        before = content(first)
        for t in range(50):
            model.learn_one({"a": t % 7}, t % 5)
            model_of(state).learn_one({"a": 3.0}, 1.0)
        assert content(first) == content(model_of(state)) == before


def test_pipelines_keep_their_shape():
    """Step names and nested pipelines are restored."""
    model = compose.Pipeline(
        ("scale", WinsorisedScaler()),
        ("rest", compose.Pipeline(("learn", ShrinkingGradient(seed=1)))),
    )
    restored = through_files(model)
    assert list(restored.steps) == ["scale", "rest"]
    assert list(restored.steps["rest"].steps) == ["learn"]


class Signs:
    """A user's family."""

    q = 1.0

    def draw(self, n, d, rng):
        return rng.standard_normal((n, d))

    def psi(self, x, w):
        return np.sign(np.vecdot(w, x))


@dataclass(frozen=True)
class Mine:
    """A user's estimator."""

    def start(self, given):
        return Sampled().start(given)

    def restore(self, given, state):
        return Sampled().restore(given, state)


@pytest.mark.parametrize(
    "own",
    [
        {"features": Signs()},
        {"estimator": Mine()},
        {"features": Signs(), "estimator": Mine()},
        {"features": features.Mixture((features.Erf(), Signs()))},
    ],
)
def test_a_users_own_parts_are_given_again(own):
    """Foreign parts can't be stored; from_state says so, takes them, and resumes bit for bit."""
    model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(**own, draws=20, seed=1))
    events = [({"a": a % 7.0, "b": a % 3.0}, a % 5.0) for a in range(80)]
    go_on(model, events[:50])
    with pytest.raises(StateError, match=rf"{next(iter(own))} was a \w+, .*give it again"):
        through_files(model)
    restored = through_files(model, **own)
    assert go_on(restored, events[50:]) == go_on(model, events[50:])


def test_restorable_parts_have_to_be_told_of():
    """A class that a state can't store, or that is named like one of ours, can't be registered."""
    with pytest.raises(TypeError, match="Signs must be a dataclass whose constructor takes"):
        restorable(Signs)
    with pytest.raises(TypeError, match=r"Erf is already the name of a class of iln_stream"):
        restorable(dataclass(type("Erf", (Signs,), {"__module__": __name__})))
    assert through_files(ShrinkingGradient(features.Erf())).features == features.Erf()


def test_a_learner_of_our_name_replaces_none():
    """A class named like one of our learners is rejected; redefining a class replaces it."""
    namesake = type("ShrinkingGradient", (ShrinkingGradient,), {"__module__": __name__})
    with pytest.raises(TypeError, match=r"ShrinkingGradient is already the name of a class of iln"):
        restorable(namesake)
    assert type(through_files(ShrinkingGradient(seed=1))) is ShrinkingGradient
    for _ in range(2):
        own = restorable(type("OwnLearner", (ShrinkingGradient,), {"__module__": __name__}))
        assert state_of(own(seed=1))


def test_another_part_is_refused():
    """A family other than the one learned with would make the coefficients meaningless."""
    own = ShrinkingGradient(Signs(), seed=1).state()
    with pytest.raises(
        StateError, match=r"features = Erf.* was given, but the state is of a Signs"
    ):
        ShrinkingGradient.from_state(own, features=features.Erf())
    ours = ShrinkingGradient(features.Erf(), seed=1).state()
    with pytest.raises(StateError, match=r"features = Tanh.* was given, but the state has Erf"):
        ShrinkingGradient.from_state(ours, features=features.Tanh())


def test_every_family_is_known():
    """Every family of the package is among those that a state can name."""
    exported = {getattr(features, name) for name in features.__all__}
    families = {cls for cls in exported if isinstance(cls, type) and hasattr(cls, "__match_args__")}
    families = {cls for cls in families if hasattr(cls, "draw") and hasattr(cls, "psi")}
    assert families == set(FAMILIES)
    for cls in FAMILIES:
        family = cls((features.Erf(),)) if cls is features.Mixture else cls()
        assert through_files(ShrinkingGradient(family, seed=1)).features == family


@pytest.mark.parametrize(
    "model",
    [
        linear_model.LinearRegression(),
        preprocessing.StandardScaler() | ShrinkingGradient(),
        ScaledTarget(linear_model.LinearRegression()),
        type("ShrinkingGradient", (ShrinkingGradient,), {})(),
    ],
)
def test_models_of_others_are_refused_by_name(model):
    """A model without state() is named, not saved in part; a subclass does not count as ours."""
    with pytest.raises(StateError, match=r"\w+ has no state that can be saved; these have"):
        state_of(model)


@pytest.mark.parametrize("cut", [0, 1, 70, 140])
@pytest.mark.parametrize(
    "model",
    [
        InfiniteLayerRegressor(),
        InfiniteLayerRegressor("fast"),
        RandomFeatureRidge(n_features=16),
        InfiniteLayerClassifier(seed=3),
    ],
    ids=str,
)
def test_learners_of_many_parts_go_through_files(model, cut):
    """They resume bit for bit too, for any names of inputs and classes."""
    rng = np.random.default_rng(cut)
    events = []
    for _ in range(cut + 40):
        a, b = rng.normal(size=2).tolist()
        y = (
            a * b
            if isinstance(model, base.Regressor)
            else [("low", 1), 7, "€"][int(a > 0) + (b > 0)]
        )
        events.append(({"a": a, ("t", 1): b, 3: 1e9}, y))
    model = model.clone()
    go_on(model, events[:cut])
    restored = through_files(model)
    assert content(restored) == content(model)
    assert go_on(restored, events[cut:]) == go_on(model, events[cut:])


def replaced(state, path, value):
    """The state with one entry, deep inside, replaced."""
    head, *rest = path
    if isinstance(state, list):
        return [replaced(s, rest, value) if i == head else s for i, s in enumerate(state)]
    return {**state, head: replaced(state[head], rest, value) if rest else value}


def classes_in(state, path=()):
    """The paths in a state at which classes begin."""
    entries = state.items() if isinstance(state, dict) else enumerate(state)
    below = ((key, v) for key, v in entries if isinstance(v, dict | list))
    return chain(
        [path] if isinstance(state, dict) and "class" in state else [],
        *(classes_in(value, (*path, key)) for key, value in below),
    )


@pytest.mark.parametrize("estimator", [Sampled(), Averaged(), Pool(4), GrowingPool(4)])
@pytest.mark.parametrize(("field", "value"), [("version", 99), ("class", "Unheard"), ("odd", 1)])
def test_a_state_of_another_release_is_refused(estimator, field, value):
    """An unknown class, version or field, at any depth, raises an error."""
    learner = ShrinkingGradient(features.GaussianFourier(), estimator, seed=1)
    model = ScaledTarget(WinsorisedScaler() | learner)
    model.learn_one({"a": 1.0}, 1.0)
    state = state_of(model)
    paths = list(classes_in(state))
    assert len(paths) >= 8
    for path in paths:
        with pytest.raises(StateError):
            model_of(replaced(state, (*path, field), value))


def test_other_parameters_are_refused():
    """A learner of another release has other parameters: the error names them."""
    state = ShrinkingGradient(seed=1).state()
    state["parameters"]["momentum"] = 0.9
    with pytest.raises(StateError, match=r"lacks parameters .*or has others: momentum"):
        ShrinkingGradient.from_state(state)
