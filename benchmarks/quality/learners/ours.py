"""Learners of iln_stream."""

from benchmarks.quality.learners.contender import Contender
from iln_stream import InfiniteLayerClassifier, InfiniteLayerRegressor, service

PACKAGES = ("iln-stream", "river", "numpy", "numba")
SEEDS = (1, 2, 3, 4, 5)

OURS = (
    Contender(
        "iln-accurate",
        "InfiniteLayerRegressor, accurate",
        "ours",
        lambda seed: InfiniteLayerRegressor(profile="accurate", seed=seed),
        "raw inputs and target",
        PACKAGES,
        SEEDS,
    ),
    Contender(
        "iln-fast",
        "InfiniteLayerRegressor, fast",
        "ours",
        lambda seed: InfiniteLayerRegressor(profile="fast", seed=seed),
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
        lambda seed: InfiniteLayerClassifier(seed=seed),
        "raw inputs",
        PACKAGES,
        SEEDS,
        task="classification",
    ),
    Contender(
        "iln-classifier-fast",
        "InfiniteLayerClassifier, fast",
        "ours",
        lambda seed: InfiniteLayerClassifier(profile="fast", seed=seed),
        'raw inputs, `profile="fast"`',
        PACKAGES,
        SEEDS,
        task="classification",
    ),
)
