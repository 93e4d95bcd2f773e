"""The learners whose curves are measured: ours, and peers from the quality suite."""

from collections.abc import Callable
from typing import Any

from river import linear_model, preprocessing, tree
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.quality.learners import CONTENDERS
from benchmarks.quality.learners.refitted import Refitted
from benchmarks.quality.learners.scaled import scaled
from benchmarks.quality.learners.scikit_learn_peers import ReplayingNetwork
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

REFITS = {first * 10**k for k in range(2, 7) for first in (1, 2, 5)}
"""Boosting is refitted after 100, 200, 500, 1,000, ... events: a constant share of its cost."""

OURS: dict[str, Callable[[int], Any]] = {
    "accurate": lambda seed: InfiniteLayerRegressor(seed=seed),
    "fast": lambda seed: InfiniteLayerRegressor("fast", seed=seed),
}

PEERS: dict[str, Callable[[int], Any]] = {
    "river-linear": lambda _: preprocessing.StandardScaler() | linear_model.LinearRegression(),
    "river-hatr": lambda seed: (
        preprocessing.StandardScaler() | tree.HoeffdingAdaptiveTreeRegressor(seed=seed)
    ),
    "vw-cubic-nn": CONTENDERS["vw-cubic-nn"].make,
    "krls-t": CONTENDERS["krls-t"].make,
    "mlp-replay": scaled(lambda seed: ReplayingNetwork(seed, hidden=(64, 64))),
    "boosting": scaled(
        lambda seed: Refitted(
            lambda _: HistGradientBoostingRegressor(random_state=seed), REFITS.__contains__
        )
    ),
}
"""With one seed each."""

LEARNERS = OURS | PEERS
