"""The learners that settings name, and the errors about names and options."""

import os
import sys

import pytest
from river import base, linear_model, multiclass, naive_bayes, preprocessing

from iln_stream.learners import (
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    ScaledTarget,
    find_shrinking_gradient,
)
from iln_stream.loop import Classification, Regression
from iln_stream.records import MalformedError
from iln_stream.service import BOUNDED, Settings, SettingsError, build_learner
from iln_stream.service.learners import OF_SAMPLING, task_of
from iln_stream.service.recovery import configuration


def settings(**values):
    return Settings.load(**values)


def test_default_learner():
    """The default learner is the accurate infinite-layer regressor, with the settings' seed."""
    model = build_learner(settings(seed=7))
    assert isinstance(model, InfiniteLayerRegressor)
    assert (model.profile, model.seed) == ("accurate", 7)


def test_profile():
    """The setting and the option of this name build the same learner, with the same state."""
    by_name, by_option = settings(profile="fast"), settings(learner_options={"profile": "fast"})
    assert build_learner(by_name).profile == build_learner(by_option).profile == "fast"
    assert configuration(by_name) == configuration(by_option)
    both = settings(profile="fast", learner_options={"profile": "fast"})
    assert configuration(both) == configuration(by_name)
    challenger = {"linear": {"learner": "river.linear_model:LinearRegression"}}
    contest = build_learner(settings(profile="fast", challengers=challenger))
    assert contest.contenders["infinite-layer"].profile == "fast"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"learner_options": {"profile": "accurate"}}, "profile = 'accurate': give one of them"),
        ({"learner": "infinite-layer-classifier"}, "unset profile, or set learner = infinite-"),
        ({"learner": "pool"}, "only infinite-layer has profiles"),
    ],
)
def test_a_profile_that_does_not_fit(more, said):
    """Another profile in the options, or a learner without profiles, is an error."""
    with pytest.raises(SettingsError, match=f"^profile = 'fast': .*{said}"):
        build_learner(settings(profile="fast", **more))


def test_the_papers_learner():
    """`shrinking-gradient` is Algorithm 1 behind scalers, seeded, with bounded memory and time."""
    model = build_learner(settings(learner="shrinking-gradient", seed=7))
    assert isinstance(model, ScaledTarget)
    algorithm_1 = find_shrinking_gradient(model)
    assert algorithm_1.seed == 7
    assert {name: getattr(algorithm_1, name) for name in BOUNDED} == BOUNDED


def test_learner_options():
    """Options override the service's defaults for Algorithm 1, including the seed."""
    options = {"budget": 5, "norm_bound": 3.5, "seed": 11}
    algorithm_1 = find_shrinking_gradient(
        build_learner(settings(learner="shrinking-gradient", learner_options=options))
    )
    assert (algorithm_1.budget, algorithm_1.norm_bound, algorithm_1.seed) == (5, 3.5, 11)
    assert algorithm_1.max_draws == BOUNDED["max_draws"]


def test_a_horizon_determines_the_step():
    """The service's constant step does not override a number of events that the user names."""
    named = settings(learner="shrinking-gradient", learner_options={"horizon": 400})
    algorithm_1 = find_shrinking_gradient(build_learner(named))
    assert (algorithm_1.horizon, algorithm_1.step) == (400, None)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"budget": 0}, "budget = 0 must be"), ({"budgett": 5}, "budgett")],
    ids=["value", "name"],
)
def test_wrong_learner_options(options, said):
    """An error about a learner option names the setting."""
    with pytest.raises(SettingsError, match=f"learner_options: .*{said}"):
        build_learner(settings(learner="shrinking-gradient", learner_options=options))


def test_river_learner():
    """A setting can name any River regressor and its arguments."""
    model = build_learner(
        settings(learner="river.linear_model:PARegressor", learner_options={"C": 0.25})
    )
    assert isinstance(model, linear_model.PARegressor)
    assert model.C == 0.25


MODULE = """
from river import linear_model, preprocessing

def make(l2=0.0):
    return preprocessing.StandardScaler() | linear_model.LinearRegression(l2=l2)

model = make()
number = 5
classes = preprocessing.StandardScaler() | linear_model.LogisticRegression()

from iln_stream.features import Tanh

class Large(Tanh):
    def psi(self, x, w):
        return 3.0 * super().psi(x, w)
"""


@pytest.fixture
def module_here(tmp_path, monkeypatch):
    """A module in the current folder, which is not on the path."""
    (tmp_path / "users_own_models.py").write_text(MODULE)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p not in ("", os.fspath(tmp_path))])
    yield
    sys.modules.pop("users_own_models", None)


def test_learner_of_a_users_own(module_here):
    """In a module of the current folder, a function is called and an object is copied."""
    made = build_learner(settings(learner="users_own_models:make", learner_options={"l2": 0.5}))
    assert made["LinearRegression"].l2 == 0.5
    taken = build_learner(settings(learner="users_own_models:model"))
    assert str(taken) == str(sys.modules["users_own_models"].model)


def test_each_learner_is_its_own(module_here):
    """Each learner is a new object, even if the path names an object."""
    named = settings(learner="users_own_models:model")
    assert build_learner(named) is not build_learner(named)
    assert build_learner(named) is not sys.modules["users_own_models"].model


def test_options_of_an_object(module_here):
    """Options for an object are an error, as they would have no effect."""
    with pytest.raises(SettingsError, match="learner_options: users_own_models:model is an object"):
        build_learner(settings(learner="users_own_models:model", learner_options={"l2": 1}))


def test_a_family_that_breaks_its_contract(module_here):
    """It is an error at startup that names the fault, before any event is predicted badly."""
    options = {"features": "users_own_models:Large"}
    with pytest.raises(SettingsError, match="Large: psi reaches 3"):
        build_learner(settings(learner="shrinking-gradient", learner_options=options))


@pytest.mark.parametrize("name", ["Features", "Mixture", "FeaturesError", "closed_form"])
def test_what_is_no_family(name):
    """The error lists the families that can be named: concrete ones that need no arguments."""
    options = {"features": name}
    with pytest.raises(SettingsError, match=f"features = '{name}': give ArcCosine, CauchyFourier"):
        build_learner(settings(learner="shrinking-gradient", learner_options=options))


def test_a_pools_step():
    """The horizon determines it; without one it is constant."""

    def step(**options):
        made = build_learner(settings(learner="pool", learner_options=options))
        return made.regressor["ShrinkingGradient"].step

    assert (step(), step(horizon=600), step(horizon=600, step=0.2)) == (0.6, None, 0.2)


@pytest.mark.parametrize("name", OF_SAMPLING)
def test_options_that_a_pool_does_not_use(name):
    """They are an error, as they would have no effect."""
    with pytest.raises(SettingsError, match=f"{name}: a pool draws nothing and keeps no events"):
        build_learner(settings(learner="pool", learner_options={name: 5}))


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        (
            "shrinking",
            "give infinite-layer, infinite-layer-classifier, pool, reference, shrinking-gradient",
        ),
        ("river.linear_model", "give infinite-layer, infinite-layer-classifier, pool"),
        ("river.linear_model:Regression", "has no attribute 'Regression'"),
        ("no_such_package:model", "No module named 'no_such_package'"),
        ("users_own_models:number", "is neither a River regressor nor a River classifier: int"),
        (
            "river.preprocessing:StandardScaler",
            "is neither a River regressor nor a River classifier: StandardScaler",
        ),
        ("", "give infinite-layer"),
    ],
)
def test_wrong_learner(learner, said, module_here):
    """An error about a learner says what is wrong with its name."""
    with pytest.raises(SettingsError, match="learner.*" + said):
        build_learner(settings(learner=learner))


def test_classifiers(module_here):
    """Our classifier has a name, and River's are named by import path, also as pipelines."""
    named = build_learner(settings(learner="infinite-layer-classifier", seed=7))
    assert isinstance(named, InfiniteLayerClassifier)
    assert named.seed == 7
    by_path = build_learner(settings(learner="river.naive_bayes:GaussianNB"))
    assert isinstance(by_path, naive_bayes.GaussianNB)
    assert isinstance(build_learner(settings(learner="users_own_models:classes")), base.Classifier)


def test_task():
    """A classifier, also as the last step of a pipeline, is scored on classes."""
    classifier = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    assert isinstance(task_of(classifier), Classification)
    assert isinstance(task_of(linear_model.LinearRegression()), Regression)


def test_tasks_know_how_many_classes():
    """A classifier of two classes refuses a third, a classifier of many takes it."""
    two = linear_model.LogisticRegression()
    with pytest.raises(MalformedError, match="this learner knows two classes"):
        task_of(preprocessing.StandardScaler() | two).label("cat")
    assert task_of(multiclass.OneVsRestClassifier(two)).label("cat") == "cat"


@pytest.mark.parametrize(
    ("learner", "option", "said"),
    [
        ("infinite-layer", "profil", r"did you mean 'profile'\? infinite-layer has the options "),
        ("shrinking-gradient", "budgets", "did you mean 'budget'"),
        ("pool", "sise", "did you mean 'size'"),
        ("reference", "nothing", "reference has the options .*horizon"),
    ],
)
def test_an_unknown_option(learner, option, said):
    """A misspelt option is answered with the one that is meant, and those that there are."""
    with pytest.raises(SettingsError, match=f"unexpected keyword argument '{option}'.*{said}"):
        build_learner(settings(learner=learner, learner_options={option: 1}))
