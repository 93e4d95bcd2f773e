"""Pairs of equal learners on autocorrelated streams: they differ by chance only."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from river import linear_model, optim, preprocessing

from benchmarks.quality.streams import STREAMS
from iln_stream.learners.contest import BoundedError, Evidence
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

Event = tuple[dict[str, float], float]
NAMES = ("a", "b", "c", "d")
NOISE = 0.5
"""Of the labels that each linear learner learns, in units of the mean |label|."""


def drifting(seed: int, n: int) -> Iterator[Event]:
    """Yield AR(1) inputs, and a label whose weights walk, with AR(1) noise."""
    rng = np.random.default_rng(seed)
    x, weights, noise = rng.standard_normal(4), rng.standard_normal(4), 0.0
    for _ in range(n):
        x = 0.99 * x + 0.14 * rng.standard_normal(4)
        weights = 0.9999 * weights + 0.014 * rng.standard_normal(4)
        noise = 0.9 * noise + 0.2 * rng.standard_normal()
        y = float(weights @ x + math.sin(2.0 * x[0])) + noise
        yield dict(zip(NAMES, x.tolist(), strict=True)), y


def bikes(seed: int, n: int) -> list[Event]:
    """Return the hours of the bike rental data, the same ones for each seed."""
    return STREAMS["bikes-hourly"].events()[:n]


class OwnNoise:
    """A linear learner, each label of which has noise of its own."""

    def __init__(self, seed: int) -> None:
        self._model = preprocessing.StandardScaler() | linear_model.LinearRegression(
            optim.SGD(0.01)
        )
        self._rng = np.random.default_rng(seed)
        self._size, self._n = 0.0, 0

    def predict_one(self, x: dict[str, float]) -> float:
        """Return the prediction."""
        return float(self._model.predict_one(x))

    def learn_one(self, x: dict[str, float], y: float) -> None:
        """Learn a label with noise."""
        self._n += 1
        self._size += (abs(y) - self._size) / self._n
        self._model.learn_one(x, y + NOISE * self._size * self._rng.standard_normal())


PAIRS: dict[str, tuple[Callable[[int], Any], Callable[[int, int], Iterable[Event]], int, int]] = {
    "linear, noise of their own, drifting": (OwnNoise, drifting, 200, 10_000),
    "linear, noise of their own, bikes": (OwnNoise, bikes, 100, 17_379),
    "fast, two seeds, drifting": (
        lambda seed: InfiniteLayerRegressor("fast", seed=seed), drifting, 100, 10_000,
    ),
    "fast, two seeds, bikes": (
        lambda seed: InfiniteLayerRegressor("fast", seed=seed), bikes, 50, 17_379,
    ),
}  # fmt: skip
"""A learner by seed, a stream by seed and length, the number of pairs, and of events."""


def events_to_promotion(name: str, pair: int) -> float:
    """Return the events until one of a pair, the challenger, is better; inf if it never is."""
    make, stream, _, n_events = PAIRS[name]
    champion, challenger = make(2 * pair + 1), make(2 * pair + 2)
    loss, evidence = BoundedError(), Evidence(error=0.05)
    for n, (x, y) in enumerate(stream(pair, n_events), 1):
        error = y - champion.predict_one(x)
        evidence.update(loss(error) - loss(y - challenger.predict_one(x)))
        if evidence.is_better:
            return n
        loss.learn(error)
        champion.learn_one(x, y)
        challenger.learn_one(x, y)
    return math.inf
