"""River's own checks, every one, on every related method and its variants."""

import pickle
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from river import checks

from iln_stream.research import related
from iln_stream.service import Settings, build_learner

ESTIMATORS = [getattr(related, name) for name in related.__all__]
MODELS = [
    estimator(**parameters)
    for estimator in ESTIMATORS
    for parameters in estimator._unit_test_params()
]
PYPROJECT = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))
POINTS = PYPROJECT["project"]["entry-points"]["iln_stream.learners"]


@pytest.mark.parametrize(
    "model",
    [MODELS[0], *(pytest.param(model, marks=pytest.mark.thorough) for model in MODELS[1:])],
    ids=lambda model: type(model).__name__,
)
def test_contract(model):
    """The method passes every check of River's for classifiers or regressors."""
    assert model._unit_test_skips() == set()
    for check in checks.yield_checks(model):
        check(model.clone())


def test_entry_points():
    """Each method is a learner of the service by name, and each name leads to a method."""
    names = {path.partition(":")[2] for path in POINTS.values() if ".related" in path}
    assert names == set(related.__all__)
    for path in POINTS.values():
        module, _, attribute = path.partition(":")
        assert getattr(import_module(module), attribute)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_service_loads_it(estimator):
    """The service builds the method by import path; options reach its arguments."""
    path = f"{estimator.__module__}:{estimator.__name__}"
    model = build_learner(Settings(learner=path, learner_options={"lam": 0.5}))
    assert (type(model), model.lam) == (estimator, 0.5)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_pickled_copy_continues(model):
    """A pickled copy predicts and learns on as the original does."""
    label = float if not hasattr(model, "_multiclass") else bool
    original = model.clone()
    stream = [({"a": float(i % 5), f"b{i % 3}": i / 40}, label(i % 5 > 2)) for i in range(120)]
    for x, y in stream[:60]:
        original.learn_one(x, y)
    copy = pickle.loads(pickle.dumps(original))
    for x, y in stream[60:]:
        assert copy.predict_one(x) == original.predict_one(x)
        copy.learn_one(x, y)
        original.learn_one(x, y)
