"""Learners of CapyMOA, which run in a Java virtual machine."""

from collections.abc import Callable
from typing import Any

import numpy as np
from river import base

from benchmarks.quality.learners.contender import Contender
from benchmarks.quality.learners.scaled import scaled
from benchmarks.quality.unavailable import UnavailableError


class CapyMoaRegressor(base.Regressor):
    """A CapyMOA regressor as a River regressor; the first event determines its inputs."""

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        try:
            from capymoa import core, regressor, stream
        except ImportError as error:
            raise UnavailableError("CapyMOA: pip install '.[quality]', and Java 17") from error
        self.name = name
        self.arguments = arguments
        self._make: Callable[..., Any] = getattr(regressor, name)
        self._schema_of = stream.Schema.from_custom
        self._instance_of = core.RegressionInstance.from_array
        self._model: Any = None
        self._schema: Any = None

    def learn_one(self, x: dict[str, float], y: float) -> None:
        if self._model is None:
            self._schema = self._schema_of([*x, "target y"], target="target y")
            self._model = self._make(schema=self._schema, **self.arguments)
        self._model.train(self._instance_of(self._schema, _row(x), float(y)))

    def predict_one(self, x: dict[str, float]) -> float:
        return float(self._model.predict(self._instance_of(self._schema, _row(x), 0.0)))


def _row(x: dict[str, float]) -> np.ndarray:
    return np.fromiter(x.values(), float, len(x))


def _capymoa(name: str, **arguments: Any) -> Callable[[int], base.Regressor]:
    return scaled(lambda seed: CapyMoaRegressor(name, {"random_seed": seed, **arguments}))


PACKAGES = ("capymoa", "river")

CAPYMOA = (
    Contender(
        "capymoa-knn-10",
        "CapyMOA KNN, k = 10",
        "online",
        _capymoa("KNNRegressor", k=10, window_size=5000),
        "k = 10, window of 5,000",
        PACKAGES,
    ),
    Contender(
        "capymoa-knn-3",
        "CapyMOA KNN, k = 3",
        "online",
        _capymoa("KNNRegressor"),
        "defaults: k = 3, window of 1,000",
        PACKAGES,
    ),
    Contender(
        "capymoa-sgbr",
        "CapyMOA SGBR",
        "online",
        _capymoa("StreamingGradientBoostedRegression"),
        "defaults: 10 boosting steps of 10 bagged trees",
        PACKAGES,
    ),
    Contender(
        "capymoa-soknl",
        "CapyMOA SOKNL",
        "online",
        _capymoa("SOKNL"),
        "defaults: 100 trees",
        PACKAGES,
    ),
)
