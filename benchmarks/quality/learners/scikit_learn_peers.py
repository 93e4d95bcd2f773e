"""scikit-learn: a network with replay, and batch models with periodic refits.

What they keep is as it was scaled when it came. On streams that drift this was better than to keep
it raw and to scale it anew (chick-weights: 0.41 against 0.74), elsewhere a little worse.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from river import base
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.neural_network import MLPRegressor

from benchmarks.quality.learners.contender import Contender
from benchmarks.quality.learners.scaled import scaled

N_REPLAYED = 31
REFITS = (32, 64, 128, 256)
"""Earlier refits, for short streams."""
REFIT_EVERY = 500


class History:
    """All events so far, as rows of inputs and target in a growing array."""

    def __init__(self) -> None:
        self.n = 0
        self._rows = np.empty((0, 0))

    def append(self, x: dict[str, float], y: float) -> None:
        row = np.array([*x.values(), y], float)
        if self.n == len(self._rows):
            longer = np.empty((max(64, 2 * self.n), len(row)))
            if self.n:
                longer[: self.n] = self._rows
            self._rows = longer
        self._rows[self.n] = row
        self.n += 1

    @property
    def rows(self) -> np.ndarray:
        return self._rows[: self.n]


class ReplayingNetwork(base.Regressor):
    """A network that learns each event together with random earlier ones."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._history = History()
        self._draws = np.random.default_rng(seed)
        self._model = MLPRegressor(hidden_layer_sizes=(64,), random_state=seed)

    def learn_one(self, x: dict[str, float], y: float) -> None:
        self._history.append(x, y)
        n = self._history.n
        replayed = np.append(self._draws.integers(n, size=N_REPLAYED), n - 1)
        rows = self._history.rows[replayed]
        self._model.partial_fit(rows[:, :-1], rows[:, -1])

    def predict_one(self, x: dict[str, float]) -> float:
        return float(self._model.predict([list(x.values())])[0])


class Refitted(base.Regressor):
    """A batch model, refitted on all events every 500 events, more often at the start."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self.make = make
        self._history = History()
        self._model: Any = None

    def learn_one(self, x: dict[str, float], y: float) -> None:
        self._history.append(x, y)
        n, rows = self._history.n, self._history.rows
        if n in REFITS or n % REFIT_EVERY == 0:
            self._model = self.make(len(x)).fit(rows[:, :-1], rows[:, -1])

    def predict_one(self, x: dict[str, float]) -> float:
        if self._model is None:
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
)
