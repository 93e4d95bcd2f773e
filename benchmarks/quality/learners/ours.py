"""Learners of iln_stream, looked up by name; missing names are skipped."""

from collections.abc import Callable
from typing import Any

from river import base

import iln_stream
from benchmarks.quality.learners.contender import Contender
from benchmarks.quality.unavailable import UnavailableError
from iln_stream import service

PACKAGES = ("iln-stream", "river", "numpy", "numba")
SEEDS = (1, 2, 3, 4, 5)


def _named(name: str, **arguments: Any) -> Callable[[int], base.Estimator]:
    def make(seed: int) -> base.Estimator:
        if not hasattr(iln_stream, name):
            raise UnavailableError(f"this iln_stream {iln_stream.__version__} has no {name}")
        return getattr(iln_stream, name)(seed=seed, **arguments)

    return make


OURS = (
    Contender(
        "iln-accurate",
        "InfiniteLayerRegressor, accurate",
        "ours",
        _named("InfiniteLayerRegressor", profile="accurate"),
        "raw inputs and target",
        PACKAGES,
        SEEDS,
    ),
    Contender(
        "iln-fast",
        "InfiniteLayerRegressor, fast",
        "ours",
        _named("InfiniteLayerRegressor", profile="fast"),
        'raw inputs and target, `profile="fast"`',
        PACKAGES,
        SEEDS,
    ),
    Contender(
        "iln-shrinking-gradient",
        "ShrinkingGradient, sampled",
        "paper",
        lambda seed: service.shrinking_gradient(seed),
        "as `iln-stream run --learner shrinking-gradient`",
        PACKAGES,
    ),
    Contender(
        "iln-pool",
        "ShrinkingGradient, pool",
        "paper",
        lambda seed: service.pool(seed),
        "as `iln-stream run --learner pool`",
        PACKAGES,
    ),
)

OUR_CLASSIFIERS = (
    Contender(
        "iln-classifier",
        "InfiniteLayerClassifier",
        "ours",
        _named("InfiniteLayerClassifier"),
        "raw inputs",
        PACKAGES,
        SEEDS,
        task="classification",
    ),
)
