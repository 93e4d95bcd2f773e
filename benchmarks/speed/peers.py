"""Other online regressors, with their usual settings, one event at a time."""

import warnings
from functools import partial
from importlib.util import find_spec

import numpy as np
from river import (
    base,
    feature_extraction,
    forest,
    linear_model,
    neighbors,
    optim,
    preprocessing,
    rules,
    tree,
)

from .contender import Contender, Step, river_step

LINEAR = "River StandardScaler | LinearRegression"
FOREST = "River ARF"
"""The learners that the speed goals compare with."""

CAPYMOA = {
    "ARF": "AdaptiveRandomForestRegressor",
    "SGBR": "StreamingGradientBoostedRegression",
    "SOKNL": "SOKNL",
}


def peers() -> list[Contender]:
    """River's usual regressors, scikit-learn, Vowpal Wabbit, CapyMOA's ensembles."""
    return [
        Contender(LINEAR, lambda: _scaled(linear_model.LinearRegression())),
        Contender(
            "River StandardScaler | RBFSampler(100) | LinearRegression",
            lambda: _scaled(
                feature_extraction.RBFSampler(gamma=0.1, n_components=100, seed=1)
                # Their squared norm is about 500: River's step diverges.
                | linear_model.LinearRegression(optim.SGD(0.001))
            ),
        ),
        Contender("River StandardScaler | KNNRegressor", lambda: _scaled(neighbors.KNNRegressor())),
        Contender(
            "River HoeffdingAdaptiveTree",
            lambda: river_step(tree.HoeffdingAdaptiveTreeRegressor(seed=1)),
        ),
        Contender("River AMRules", lambda: river_step(rules.AMRules())),
        Contender(FOREST, lambda: river_step(forest.ARFRegressor(seed=1))),
        Contender("scikit-learn RBFSampler(100) + SGD", scikit_learn),
        *(Contender("Vowpal Wabbit", vowpal_wabbit) for _ in _installed("vowpalwabbit")),
        *(
            Contender(f"CapyMOA {short}", partial(capymoa, name))
            for _ in _installed("capymoa")
            for short, name in CAPYMOA.items()
        ),
    ]


def _installed(package: str) -> list[str]:
    """Return the package, or nothing if it is not installed: they are in the extra `bench`."""
    if find_spec(package):
        return [package]
    warnings.warn(f"{package} is left out: pip install '.[bench]'", stacklevel=2)
    return []


def _scaled(model: base.Regressor) -> Step:
    return river_step(preprocessing.StandardScaler() | model)


def scikit_learn() -> Step:
    """RBFSampler and SGDRegressor, one row at a time."""
    from sklearn.kernel_approximation import RBFSampler
    from sklearn.linear_model import SGDRegressor

    sampler = RBFSampler(gamma=0.1, n_components=100, random_state=1)
    # Its usual step, .01 and falling, is for features that are larger: these have the norm 1.
    regressor = SGDRegressor(learning_rate="constant", eta0=0.3, random_state=1)
    started = False

    def step(x: dict[str, float], y: float) -> float:
        nonlocal started
        row = [list(x.values())]
        features = sampler.transform(row) if started else sampler.fit_transform(row)
        y_pred = float(regressor.predict(features)[0]) if started else 0.0
        regressor.partial_fit(features, [y])
        started = True
        return y_pred

    return step


def capymoa(name: str) -> Step:
    """A regressor of CapyMOA, which runs in a Java virtual machine."""
    from capymoa import core, regressor, stream

    model, schema, instance = None, None, core.RegressionInstance.from_array

    def step(x: dict[str, float], y: float) -> float:
        nonlocal model, schema
        row = np.fromiter(x.values(), float, len(x))
        if model is None:
            schema = stream.Schema.from_custom([*x, "target y"], target="target y")
            model = getattr(regressor, name)(schema=schema, random_seed=1)
        y_pred = model.predict(instance(schema, row, 0.0)) or 0.0
        model.train(instance(schema, row, y))
        return float(y_pred)

    return step


def vowpal_wabbit() -> Step:
    """Vowpal Wabbit, whose `learn` also returns the prediction, so that it parses a line once."""
    from vowpalwabbit import Workspace

    workspace = Workspace("--quiet --random_seed 1")

    def step(x: dict[str, float], y: float) -> float:
        inputs = " ".join([f"{name}:{value}" for name, value in x.items()])
        example = workspace.parse(f"{y} | {inputs}")
        workspace.learn(example)
        y_pred = float(example.get_simplelabel_prediction())
        workspace.finish_example(example)
        return y_pred

    return step
