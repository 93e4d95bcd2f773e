"""State, through files, and back: the restored model and the original must not differ in a bit."""

from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar

import numpy as np
import pytest
from river import base, compose, linear_model, preprocessing
from support.own_parts import Mine, Signs

import iln_stream
from iln_stream import features
from iln_stream.errors import StateError
from iln_stream.learners import RestorableLearner, model_of, restorable, state_of
from iln_stream.learners.estimators import ESTIMATORS, Averaged, Block, Full, Sampled
from iln_stream.learners.estimators.growing_pool import GrowingPool
from iln_stream.learners.estimators.pool import Pool
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.change_of_target import ChangeOfTarget, RatioToLevel
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.restoring import COMPONENTS, LEARNERS
from iln_stream.learners.shrinking_gradient import ShrinkingGradient
from iln_stream.state import from_bytes, to_bytes


def through_files(model, **own):
    """The model as restored from bytes."""
    return model_of(from_bytes(to_bytes(state_of(model))), **own)


def content(model):
    """A complete state, in comparable form."""
    return to_bytes(state_of(model))


@pytest.mark.parametrize(
    "own",
    [
        {"features": Signs(), "estimator": Mine()},
        {"features": features.Mixture((features.Erf(), Signs()))},
    ],
)
def test_a_users_own_parts_are_given_again(own):
    """Foreign parts can't be stored; from_state says so, takes them, and resumes bit for bit."""
    model = ScaledTarget(WinsorisedScaler() | ShrinkingGradient(**own, draws=20, seed=1))
    events = [({"a": a % 7.0, "b": a % 3.0}, a % 5.0) for a in range(80)]
    answers(model, events[:50])
    with pytest.raises(StateError, match=rf"{next(iter(own))} was a \w+, .*give it again"):
        through_files(model)
    restored = through_files(model, **own)
    assert answers(restored, events[50:]) == answers(model, events[50:])


def test_only_dataclasses_of_their_arguments_are_components():
    """A state stores fields, so a class with other attributes can't be registered."""

    @dataclass
    class Hidden:
        gamma: float = field(init=False, default=1.0)

    for cls in (Signs, Hidden):
        with pytest.raises(TypeError, match=f"{cls.__name__} must be a dataclass whose construct"):
            restorable(cls)


def test_namesakes_are_told_apart():
    """A family or learner named like one of ours, or like another module's, is stored as itself."""
    theirs = {"__module__": "their.module", "__qualname__": "Erf"}
    erf = restorable(dataclass(frozen=True)(type("Erf", (Signs,), theirs)))
    for family in (erf(), features.Erf()):
        assert type(through_files(ShrinkingGradient(family)).features) is type(family)
    theirs = {"__module__": "their.module", "__qualname__": "ShrinkingGradient"}
    learner = restorable(type("ShrinkingGradient", (ShrinkingGradient,), theirs))
    assert state_of(learner(seed=1))["class"] == "their.module.ShrinkingGradient"
    for cls in (learner, ShrinkingGradient):
        assert type(through_files(cls(seed=1))) is cls


def test_names_that_were_given():
    """A name that a class was given at registration is in its states; a class redefined under it
    replaces the earlier one, and a class of another module can't have it."""
    for _ in range(2):
        own = type("OwnLearner", (ShrinkingGradient,), {"__module__": __name__})
        assert restorable(name="own.Learner")(own) is own
        assert state_of(own(seed=1))["class"] == "own.Learner"
        assert type(through_files(own(seed=1))) is own
    with pytest.raises(TypeError, match=r"own\.Learner is already the name of .*: choose"):
        restorable(name="own.Learner")(type("B", (ShrinkingGradient,), {"__module__": "b"}))


@restorable
@dataclass(frozen=True)
class Wave(Signs):
    """A user's family of which a release stored `width`, and a later one its inverse."""

    slope: float = 1.0

    state_version = 2
    migrations: ClassVar = {1: lambda state: {"class": state["class"], "slope": 1 / state["width"]}}


def test_components_have_versions_too():
    """A family's older state is migrated by its class, and a newer one refused."""
    state = ShrinkingGradient(Wave(4.0), seed=1).state()
    name, version = state["parameters"]["features"]["class"], {"version": 1, "width": 0.25}
    assert state["parameters"]["features"]["version"] == 2
    state["parameters"]["features"] = {"class": name, **version}
    assert model_of(state).features == Wave(4.0)
    state["parameters"]["features"] = {"class": name, "version": 3, "slope": 1.0}
    with pytest.raises(StateError, match=r"\.Wave has format 3, and release .* reads 1, 2:"):
        model_of(state)
    state["parameters"]["features"] = {"class": "elsewhere.Family", "slope": 1.0}
    with pytest.raises(StateError, match=r"features is a 'elsewhere.Family'.*@restorable"):
        model_of(state)


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


def test_every_component_is_known():
    """Every family and estimator of the package is among those that a state can name."""
    exported = {getattr(features, name) for name in features.__all__}
    families = {cls for cls in exported if isinstance(cls, type) and hasattr(cls, "__match_args__")}
    families = {cls for cls in families if hasattr(cls, "draw") and hasattr(cls, "psi")}
    ours = {cls for name, cls in COMPONENTS.items() if name.startswith("iln_stream.")}
    assert ours == families | set(ESTIMATORS.values())
    for cls in families:
        family = cls((features.Erf(),)) if cls is features.Mixture else cls()
        assert through_files(ShrinkingGradient(family, seed=1)).features == family


MIXTURE = features.Mixture((features.Erf(), features.Mixture((features.LaplacianFourier(),))))


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize(
    "own",
    [
        *({"estimator": estimator()} for estimator in ESTIMATORS.values()),
        {"estimator": Sampled("direct"), "budget": 1},
        {"estimator": Sampled("phase integrated"), "draws": 40, "horizon": 9},
        {"features": MIXTURE, "draws": 5, "budget": 30, "policy": "compress"},
        {"features": MIXTURE, "estimator": Block(4, 3), "budget": 30, "policy": "smallest"},
        {"features": features.RandomNetwork(width=2), "estimator": Full(4), "max_columns": 1},
        {"features": features.ArcCosine(0.7), "estimator": GrowingPool(2, 0.1, 60), "budget": 3},
        {"estimator": Pool(2), "seed": None},
    ],
    ids=str,
)
@pytest.mark.parametrize("cut", [3, 150])
def test_every_estimator_goes_on_bit_for_bit(own, cut):
    """An iterate is restored with its estimator and its parameters, also after shrinks."""
    model = ShrinkingGradient(**{"step": 0.5, "norm_bound": 0.001, "seed": 1} | own)
    events = list(events_for(model, cut + 40))
    answers(model, events[:cut])
    assert model.n_shrinks > 0 or cut == 3
    restored = through_files(model)
    assert restored._get_params() == model._get_params()
    assert restored.last_update == model.last_update
    assert answers(restored, events[cut:]) == answers(model, events[cut:])


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


OURS = [
    cls(**parameters)
    for name, cls in LEARNERS.items()
    if name.startswith("iln_stream.")
    for parameters in cls._unit_test_params()
    if cls not in (ChangeOfTarget, RatioToLevel, ScaledTarget)
] + [
    ChangeOfTarget(InfiniteLayerRegressor("fast", seed=1), "a"),
    RatioToLevel(InfiniteLayerRegressor("fast", seed=1), "a", "b"),
    ScaledTarget(ShrinkingGradient(seed=1)),
    ScaledTarget(WinsorisedScaler() | InfiniteLayerRegressor("fast")),
    *(cls() for cls in (InfiniteLayerRegressor, InfiniteLayerClassifier, RandomFeatureRidge)),
]
"""A model or more of each class in the registry, and some whose seed nobody knows."""


def test_every_learner_is_registered():
    """A public class with a state is in the registry, under its public name."""
    public = {f"iln_stream.{name}": getattr(iln_stream, name) for name in iln_stream.__all__}
    assert {
        name: cls
        for name, cls in public.items()
        if isinstance(cls, type) and issubclass(cls, RestorableLearner)
    } == {name: cls for name, cls in LEARNERS.items() if name.startswith("iln_stream.")}


def events_for(model, n):
    """n events with names of many kinds; later ones have a name more."""
    rng, names = np.random.default_rng(n), ["a", ("t", 1), None]
    for t in range(n):
        a, b, c = rng.normal(size=3).tolist()
        x = dict(zip(names if t > n // 2 else names[:2], (a, b, c), strict=False)) | {3: 1e9}
        is_classifier = isinstance(model, base.Classifier)
        yield x, [("low", 1), 7, "€"][(a > 0) + (b > 0)] if is_classifier else a * b


def ask(model, x):
    """What a model of any kind says of x."""
    if isinstance(model, base.Transformer):
        return model.transform_one(x)
    return getattr(model, "predict_proba_one", model.predict_one)(x)


def answers(model, events):
    """What a model says before it learns each event, and its state in the end."""
    said = []
    for x, y in events:
        said.append(ask(model, x))
        model.learn_one(x, y)
    return said, content(model)


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("cut", [1, 140])
@pytest.mark.parametrize("model", OURS, ids=repr)
def test_every_learner_goes_on_bit_for_bit(model, cut):
    """Restored from bytes in mid-stream, a learner says the same, and ends in the same state."""
    model = model.clone()
    events = list(events_for(model, cut + 40))
    answers(model, events[:cut])
    restored = through_files(model)
    assert content(restored) == content(model)
    assert answers(restored, events[cut:]) == answers(model, events[cut:])


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("model", OURS, ids=repr)
def test_a_state_shares_no_memory(model):
    """What is learned later, by the learner or by one that was restored from the state, leaves the
    state as it is."""
    model = model.clone()
    events = list(events_for(model, 100))
    answers(model, events[:80])
    state = state_of(model)
    before = to_bytes(state)
    restored = model_of(state)
    answers(model, events[80:])
    answers(restored, events[80:])
    assert to_bytes(state) == before
    assert content(model) == content(restored) != before


@pytest.mark.filterwarnings("ignore::iln_stream.IlnWarning")
@pytest.mark.parametrize("model", OURS, ids=repr)
def test_a_learner_forgets_what_it_learned_when_it_is_restored(model):
    """`restore` on a learner of the same parameters, taught something else, is `model_of`."""
    model, other = model.clone(), model.clone()
    events = list(events_for(model, 120))
    answers(model, events[:70])
    answers(other, [({**x, "a name more": 1.0, "a": 2.0}, y) for x, y in events])
    ask(other, events[70][0])  # what is kept for the event's learning must go, too
    other.restore(from_bytes(content(model)))
    assert answers(other, events[70:]) == answers(model, events[70:])


def test_other_parameters_are_named():
    """A learner is restored only from a state of its own parameters, pipelines included."""
    state = ShrinkingGradient(features.Erf(), step=0.5).state()
    with pytest.raises(StateError, match=r"step = 0\.25 was given, but the state has 0\.5"):
        ShrinkingGradient(features.Erf(), step=0.25).restore(state)
    with pytest.raises(StateError, match=r"features = None was given, but the state has Erf"):
        ShrinkingGradient(step=0.5).restore(state)
    state = ScaledTarget(WinsorisedScaler() | ShrinkingGradient()).state()
    with pytest.raises(StateError, match=r"the steps \['WinsorisedScaler', 'Shr.*not \['Shr"):
        ScaledTarget(compose.Pipeline(ShrinkingGradient())).restore(state)
    with pytest.raises(StateError, match=r"clip = 1\.0 was given, but the state has 5\.0"):
        ScaledTarget(WinsorisedScaler(1.0) | ShrinkingGradient()).restore(state)
    with pytest.raises(StateError, match=r"LinearRegression has no state that can be restored"):
        ScaledTarget(linear_model.LinearRegression()).restore(state)


@restorable
class Versioned(ShrinkingGradient):
    """A user's learner, whose version 2 counted thousands of events."""

    state_version = 3
    migrations: ClassVar = {2: lambda state: {**state, "n_seen": 1000 * state["n_seen"]}}


def test_migrations_are_of_a_class():
    """A learner's class has its own version, and reads older states by its own migrations."""
    state = Versioned(seed=1).state() | {"version": 2, "n_seen": 4}
    assert model_of(state).n_seen == 4000
    assert Versioned.from_state(state).n_seen == 4000
    with pytest.raises(StateError, match=r"Versioned has format 1, and release .* reads 2, 3:"):
        model_of(state | {"version": 1})


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


@pytest.mark.parametrize("estimator", [Averaged(), GrowingPool(4)])
@pytest.mark.parametrize(("name", "value"), [("version", 99), ("class", "Unheard"), ("odd", 1)])
def test_a_state_of_another_release_is_refused(estimator, name, value):
    """An unknown class, version or field, at any depth, raises an error."""
    learner = ShrinkingGradient(features.GaussianFourier(), estimator, seed=1)
    model = ScaledTarget(WinsorisedScaler() | learner)
    model.learn_one({"a": 1.0}, 1.0)
    state = state_of(model)
    paths = list(classes_in(state))
    assert len(paths) >= 8
    for path in paths:
        with pytest.raises(StateError):
            model_of(replaced(state, (*path, name), value))


def test_other_parameters_are_refused():
    """A learner of another release has other parameters: the error names them."""
    state = ShrinkingGradient(seed=1).state()
    state["parameters"]["momentum"] = 0.9
    with pytest.raises(StateError, match=r"lacks parameters .*or has others: momentum"):
        ShrinkingGradient.from_state(state)


def poisoned(state):
    """A state with one of its numbers, in some array, replaced by nan; and all such states."""
    for name, value in state.items():
        if isinstance(value, dict):
            for inner in poisoned(value):
                yield {**state, name: inner}
        elif isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.size:
            array = value.copy()
            array.flat[-1] = np.nan
            yield {**state, name: array}


@pytest.mark.parametrize(
    "model",
    [
        InfiniteLayerRegressor(seed=1),
        InfiniteLayerRegressor("fast", seed=1),
        RandomFeatureRidge(8, seed=1),
        InfiniteLayerClassifier(seed=1),
        ShrinkingGradient(seed=1),
        WinsorisedScaler(),
    ],
)
def test_a_state_that_is_not_finite_is_refused(model):
    """Whatever array has the number; the error names the class."""
    for n in range(3):
        model.learn_one({"a": float(n)}, n % 2)
    states = list(poisoned(state_of(model)))
    assert states
    for state in states:
        with pytest.raises(
            StateError, match=f"{type(model).__name__} has numbers that are not finite"
        ):
            model_of(state)


def test_a_learner_of_ones_own_may_have_numbers_that_are_not_finite():
    """Only classes that declare `always_finite` are checked."""

    @restorable(name="tests.Largest")
    class Largest(RestorableLearner, base.Regressor):
        def __init__(self):
            super().__init__()
            self.value = -np.inf

        def learn_one(self, x, y):
            self.value = max(self.value, y)

        def predict_one(self, x):
            return self.value

        def state(self):
            return self._write_state(value=self.value)

        def restore(self, state):
            (self.value,) = self._read_state(state, "value")

    assert model_of(state_of(Largest())).predict_one({}) == -np.inf
