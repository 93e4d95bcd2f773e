"""The public learners, each composed as the README composes it."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from river import base

from iln_stream import service
from iln_stream.learners.infinite_layer.classifier import InfiniteLayerClassifier
from iln_stream.learners.infinite_layer.random_feature_ridge import RandomFeatureRidge
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.preprocessing.scaled_target import ScaledTarget
from iln_stream.learners.preprocessing.winsorised_scaler import WinsorisedScaler
from iln_stream.learners.shrinking_gradient import ShrinkingGradient

BUDGET = 1_000

_PROFILES = "iln_stream.learners.infinite_layer"
_ALGORITHM_1 = ("iln_stream.learners.shrinking_gradient", "iln_stream.learners.preprocessing")


class Entrant(NamedTuple):
    """A learner of the suite.

    Parameters
    ----------
    title
        For the documents.
    make
        From a seed to a new learner.
    roots
        Modules whose sources, with all that they import, determine what it predicts.
    task
        Whether it learns targets or classes.
    keeps_all
        Whether it keeps all events, so that its memory grows.

    """

    title: str
    make: Callable[[int], base.Estimator]
    roots: tuple[str, ...]
    task: Literal["regression", "classification"] = "regression"
    keeps_all: bool = False


def _algorithm_1(**options: Any) -> Callable[[int], base.Estimator]:
    return lambda seed: ScaledTarget(WinsorisedScaler() | ShrinkingGradient(seed=seed, **options))


LEARNERS = {
    "accurate": Entrant(
        "InfiniteLayerRegressor, accurate",
        lambda seed: InfiniteLayerRegressor(seed=seed),
        (f"{_PROFILES}.accurate", "iln_stream.learners.infinite_layer.base"),
    ),
    "fast": Entrant(
        "InfiniteLayerRegressor, fast",
        lambda seed: InfiniteLayerRegressor("fast", seed=seed),
        (f"{_PROFILES}.fast", "iln_stream.learners.infinite_layer.base"),
    ),
    "classifier": Entrant(
        "InfiniteLayerClassifier",
        lambda seed: InfiniteLayerClassifier(seed=seed),
        (f"{_PROFILES}.classes", "iln_stream.learners.infinite_layer.base"),
        task="classification",
    ),
    "ridge": Entrant(
        "RandomFeatureRidge",
        lambda seed: RandomFeatureRidge(seed=seed),
        (f"{_PROFILES}.single_ridge", "iln_stream.learners.infinite_layer.random_feature_ridge"),
    ),
    "ridge-forgetting": Entrant(
        "RandomFeatureRidge, forgetting 0.999",
        lambda seed: RandomFeatureRidge(forgetting=0.999, seed=seed),
        (f"{_PROFILES}.single_ridge", "iln_stream.learners.infinite_layer.random_feature_ridge"),
    ),
    "sampled": Entrant(
        "ShrinkingGradient, sampled, as the service runs it",
        lambda seed: service.shrinking_gradient(seed),
        _ALGORITHM_1,
    ),
    "sampled-constant": Entrant(
        "ShrinkingGradient, sampled, constant step",
        _algorithm_1(step=0.05, budget=BUDGET),
        _ALGORITHM_1,
    ),
    "block": Entrant(
        "ShrinkingGradient, block",
        _algorithm_1(estimator="block", step=0.05, budget=BUDGET),
        _ALGORITHM_1,
    ),
    "full": Entrant(
        "ShrinkingGradient, full",
        _algorithm_1(estimator="full", step=0.3, budget=BUDGET),
        _ALGORITHM_1,
    ),
    "exact": Entrant(
        "ShrinkingGradient, exact, smallest evicted",
        _algorithm_1(estimator="exact", step=0.5, budget=BUDGET, policy="smallest"),
        _ALGORITHM_1,
    ),
    "compress": Entrant(
        "ShrinkingGradient, exact, compressed",
        _algorithm_1(estimator="exact", step=0.05, budget=BUDGET, policy="compress"),
        _ALGORITHM_1,
    ),
    "pool": Entrant(
        "ShrinkingGradient, pool, as the service runs it",
        lambda seed: service.pool(seed),
        _ALGORITHM_1,
    ),
    "growing-pool": Entrant(
        "ShrinkingGradient, growing pool",
        _algorithm_1(estimator="growing-pool", step=0.6, budget=BUDGET),
        _ALGORITHM_1,
    ),
    "averaged": Entrant(
        "ShrinkingGradient, averaged, without a budget",
        _algorithm_1(estimator="averaged"),
        _ALGORITHM_1,
        keeps_all=True,
    ),
}
"""The learners, by id."""

PACKAGES = "iln-stream", "river", "numpy", "numba"
"""Packages that affect the results."""
