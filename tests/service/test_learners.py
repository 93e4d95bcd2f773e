"""The learners that settings name, and the errors about names and options."""

import os
import sys

import pytest
from river import base, naive_bayes

from iln_stream.learners import (
    InfiniteLayerClassifier,
    InfiniteLayerRegressor,
    ScaledTarget,
    find_shrinking_gradient,
)
from iln_stream.service import BOUNDED, Settings, SettingsError, build_learner
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
    classifier = build_learner(settings(profile="fast", learner="infinite-layer-classifier"))
    assert classifier.profile == "fast"
    both = settings(profile="fast", learner_options={"profile": "fast"})
    assert configuration(both) == configuration(by_name)
    challenger = {"linear": {"learner": "river.linear_model:LinearRegression"}}
    contest = build_learner(settings(profile="fast", challengers=challenger))
    assert contest.contenders["infinite-layer"].profile == "fast"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"learner_options": {"profile": "accurate"}}, "profile = 'accurate': give one of them"),
        ({"learner": "pool"}, "only infinite-layer and infinite-layer-classifier"),
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


def test_wrong_learner_options():
    """An error about a learner option names the setting."""
    options = {"budget": 0}
    with pytest.raises(SettingsError, match=r"learner_options: .*budget = 0 must be"):
        build_learner(settings(learner="shrinking-gradient", learner_options=options))


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
    """In a module of the current folder, a function is called; an object is copied, for each
    learner anew, and takes no options."""
    made = build_learner(settings(learner="users_own_models:make", learner_options={"l2": 0.5}))
    assert made["LinearRegression"].l2 == 0.5
    named = settings(learner="users_own_models:model")
    taken, model = build_learner(named), sys.modules["users_own_models"].model
    assert str(taken) == str(model)
    assert len({id(taken), id(build_learner(named)), id(model)}) == 3
    with pytest.raises(SettingsError, match="learner_options: users_own_models:model is an object"):
        build_learner(settings(learner="users_own_models:model", learner_options={"l2": 1}))


def test_a_family_that_breaks_its_contract(module_here):
    """It is an error at startup that names the fault, before any event is predicted badly."""
    options = {"features": "users_own_models:Large"}
    with pytest.raises(SettingsError, match="Large: psi reaches 3"):
        build_learner(settings(learner="shrinking-gradient", learner_options=options))


@pytest.mark.parametrize("name", ["Features", "closed_form"])
def test_what_is_no_family(name):
    """The error lists the families that can be named: concrete ones that need no arguments."""
    options = {"features": name}
    with pytest.raises(SettingsError, match=f"features = '{name}': give ArcCosine, CauchyFourier"):
        build_learner(settings(learner="shrinking-gradient", learner_options=options))


@pytest.mark.parametrize(
    ("learner", "options", "step"),
    [
        ("pool", {}, 0.6),
        ("pool", {"horizon": 600}, None),
        ("pool", {"horizon": 600, "step": 0.2}, 0.2),
        ("shrinking-gradient", {"horizon": 400}, None),
    ],
)
def test_a_horizon_determines_the_step(learner, options, step):
    """Without one it is constant; it does not override a number of events that the user names."""
    made = build_learner(settings(learner=learner, learner_options=options))
    assert find_shrinking_gradient(made).step == step


@pytest.mark.parametrize(
    ("learner", "said"),
    [
        ("shrinking", "did you mean shrinking-gradient"),
        ("river.linear_model:Regression", "has no attribute 'Regression'"),
        ("no_such_package:model", "No module named 'no_such_package'"),
        ("users_own_models:number", "is neither a River regressor nor a River classifier: int"),
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


@pytest.mark.parametrize(
    ("learner", "option", "said"),
    [
        ("infinite-layer", "profil", "infinite-layer has the options .*did you mean profile?"),
        ("pool", "nothing", "pool has the options .*horizon"),
    ],
)
def test_an_unknown_option(learner, option, said):
    """A misspelt option is answered with the one that is meant, and those that there are."""
    with pytest.raises(SettingsError, match=f"unknown option '{option}'.*{said}"):
        build_learner(settings(learner=learner, learner_options={option: 1}))
