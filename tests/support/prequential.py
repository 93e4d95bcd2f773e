"""Learning of events, and the errors of predictions that are made before each is learned."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np


def products(n: int, seed: int = 0, sign: float = 1.0) -> list[tuple[dict[str, float], float]]:
    """Events whose target is a product of two of three inputs."""
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return [(dict(zip("abc", x, strict=True)), sign * x[0] * x[1]) for x in X.tolist()]


def learned(model: Any, events: Iterable[tuple[dict[str, Any], Any]]) -> Any:
    """The model of River's interface, after it has learned the events."""
    for x, y in events:
        model.learn_one(x, y)
    return model


def teach(engine: Any, events: Iterable[tuple[dict[str, Any], Any]]) -> Any:
    """Let an engine learn the events, and return it."""
    for x, y in events:
        engine.learn(x, y)
    return engine


def errors(model: Any, events: Iterable[tuple[dict[str, Any], float]]) -> np.ndarray:
    """The |error| of each prediction of a model of River's interface."""
    return _errors(model.predict_one, model.learn_one, events)


def engine_errors(engine: Any, events: Iterable[tuple[dict[str, Any], float]]) -> np.ndarray:
    """The |error| of each prediction of an engine."""
    return _errors(engine.predict, engine.learn, events)


def _errors(predict: Callable, learn: Callable, events: Iterable) -> np.ndarray:
    found = []
    for x, y in events:
        found.append(abs(predict(x) - y))
        learn(x, y)
    return np.array(found)
