"""scikit-learn: a network with replay, and batch models with periodic refits."""

import numpy as np
from river import base
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.neural_network import MLPRegressor

from benchmarks.quality.learners.contender import Contender
from benchmarks.quality.learners.history import History
from benchmarks.quality.learners.refitted import Refitted
from benchmarks.quality.learners.scaled import scaled

N_REPLAYED = 31


class ReplayingNetwork(base.Regressor):
    """A network that learns each event together with random earlier ones."""

    def __init__(self, seed: int, hidden: tuple[int, ...] = (64,)) -> None:
        self.seed = seed
        self.hidden = hidden
        self._history = History()
        self._draws = np.random.default_rng(seed)
        self._model = MLPRegressor(hidden_layer_sizes=hidden, random_state=seed)

    def learn_one(self, x: dict[str, float], y: float) -> None:
        self._history.append(x, y)
        n = self._history.n
        replayed = np.append(self._draws.integers(n, size=N_REPLAYED), n - 1)
        rows = self._history.rows[replayed]
        self._model.partial_fit(rows[:, :-1], rows[:, -1])

    def predict_one(self, x: dict[str, float]) -> float:
        if not self._history.n:
            return 0.0  # behind the scaling: the mean
        return float(self._model.predict([list(x.values())])[0])


PACKAGES = ("scikit-learn", "numpy", "river")

SCIKIT_LEARN = (
    Contender(
        "sklearn-mlp-replay",
        "scikit-learn MLP, 31 replayed",
        "online",
        scaled(ReplayingNetwork),
        "64 units, `partial_fit` on each event and 31 random past events",
        PACKAGES,
    ),
    Contender(
        "batch-gradient-boosting",
        "gradient boosting, refitted",
        "batch",
        scaled(lambda seed: Refitted(lambda _: HistGradientBoostingRegressor(random_state=seed))),
        "HistGradientBoostingRegressor, refitted every 500 events and at 32, 64, 128, 256",
        PACKAGES,
    ),
    Contender(
        "batch-kernel-ridge",
        "kernel ridge, refitted",
        "batch",
        scaled(lambda _: Refitted(lambda d: KernelRidge(kernel="rbf", gamma=0.5 / d, alpha=0.1))),
        "Gaussian kernel, gamma = 1/(2d), alpha = 0.1, refitted at the same events",
        PACKAGES,
    ),
    Contender(
        "batch-extra-trees",
        "extra trees, refitted",
        "batch",
        scaled(lambda seed: Refitted(lambda _: ExtraTreesRegressor(random_state=seed))),
        "ExtraTreesRegressor, refitted at the same events",
        PACKAGES,
    ),
)
