"""Streams with ids: our learners beside River's linear model on one-hot names, and Vowpal Wabbit.

    PYTHONPATH=. python -m benchmarks.categories --events 30000

For each stream and learner: prequential mean absolute error over that of the running mean, and
seconds of processor time. Vowpal Wabbit takes part if its package is installed.
"""

import argparse
import importlib
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from river import linear_model, optim, preprocessing

from iln_stream.errors import IlnWarning
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor

Event = tuple[dict[str, float], float]
Ints = NDArray[np.int64]

NOISE = 0.5
CHANGE_EVERY = 10_000


class Learner(Protocol):
    """What learns a stream."""

    def predict_one(self, x: Mapping[str, float]) -> float:
        """Return the prediction."""
        ...

    def learn_one(self, x: Mapping[str, float], y: float) -> None:
        """Learn a target."""
        ...


def _skewed(rng: np.random.Generator, n_ids: int, n: int, exponent: float = 1.0) -> Ints:
    """Ids whose frequencies fall as a power of their rank."""
    p = 1.0 / np.arange(1, n_ids + 1) ** exponent
    return rng.permutation(n_ids)[rng.choice(n_ids, n, p=p / p.sum())]


def stream(name: str, n: int) -> Iterator[Event]:
    rng = np.random.default_rng([20, sum(name.encode())])
    X = rng.normal(size=(n, 4))
    f = np.sin(2.0 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * X[:, 3]
    y = f + NOISE * rng.normal(size=n)
    fields: dict[str, Ints] = {}
    if name == "ids alone":
        fields["id"] = ids = _skewed(rng, 10_000, n)
        y, X = y - f + rng.normal(size=10_000)[ids], X[:, :0]
    elif name == "ids and numbers":
        fields["id"] = ids = _skewed(rng, 10_000, n)
        y += rng.normal(size=10_000)[ids]
    elif name == "two fields":
        fields["user"] = users = _skewed(rng, 5_000, n)
        fields["item"] = items = _skewed(rng, 300, n, 0.6)
        y += rng.normal(size=5_000)[users] + rng.uniform(-1.5, 1.5, 300)[items]
    elif name == "ids without effect":
        fields["id"] = _skewed(rng, 10_000, n)
    elif name == "effects change":
        fields["id"] = ids = _skewed(rng, 1_000, n)
        epochs = np.arange(n) // CHANGE_EVERY
        y += rng.normal(size=(epochs[-1] + 1, 1_000))[epochs, ids]
    elif name == "a million ids":
        fields["id"] = ids = _skewed(rng, 1_000_000, n, 0.8)
        y += rng.normal(size=1_000_000)[ids]
    elif name == "slopes by id":
        fields["id"] = ids = _skewed(rng, 1_000, n)
        y += rng.normal(size=1_000)[ids] * (1.0 + X[:, 3])
    names = list(fields)
    for row, target, *ids_of_event in zip(X.tolist(), y.tolist(), *fields.values(), strict=True):
        x = {f"x{k}": value for k, value in enumerate(row)}
        x |= {f"{field}={i}": 1.0 for field, i in zip(names, ids_of_event, strict=True)}
        yield x, target


STREAMS = (
    "ids alone", "ids and numbers", "two fields", "ids without effect", "effects change",
    "a million ids", "slopes by id",
)  # fmt: skip


class RiverLinear:
    """River's linear regression with AdaGrad on standardised numbers and one-hot names."""

    def __init__(self) -> None:
        self._scaler = preprocessing.StandardScaler()
        self._model = linear_model.LinearRegression(optim.AdaGrad(0.5), intercept_lr=0.1)

    def _scaled(self, x: Mapping[str, float]) -> dict[str, float]:
        numbers = {name: value for name, value in x.items() if "=" not in name}
        scaled: dict[str, float] = self._scaler.transform_one(numbers)
        return {**x, **scaled}

    def predict_one(self, x: Mapping[str, float]) -> float:
        """Return the prediction."""
        return float(self._model.predict_one(self._scaled(x)))

    def learn_one(self, x: Mapping[str, float], y: float) -> None:
        """Learn a target."""
        self._scaler.learn_one({name: value for name, value in x.items() if "=" not in name})
        self._model.learn_one(self._scaled(x), y)


class WithoutIds:
    """Our learner, which gets the numbers only."""

    def __init__(self, profile: Any) -> None:
        self._model = InfiniteLayerRegressor(profile, seed=1)

    def predict_one(self, x: Mapping[str, float]) -> float:
        """Return the prediction."""
        return self._model.predict_one({k: v for k, v in x.items() if "=" not in k})

    def learn_one(self, x: Mapping[str, float], y: float) -> None:
        """Learn a target."""
        self._model.learn_one({k: v for k, v in x.items() if "=" not in k}, y)


class VowpalWabbit:
    """Vowpal Wabbit as it comes: a linear model on hashed names, in 2^18 cells."""

    def __init__(self) -> None:
        self._model = importlib.import_module("vowpalwabbit").Workspace("--quiet -b 18")

    def predict_one(self, x: Mapping[str, float]) -> float:
        """Return the prediction."""
        return float(self._model.predict(self._line(x)))

    def learn_one(self, x: Mapping[str, float], y: float) -> None:
        """Learn a target."""
        self._model.learn(f"{y!r} {self._line(x)}")

    def _line(self, x: Mapping[str, float]) -> str:
        return "| " + " ".join(f"{name}:{value!r}" for name, value in x.items())


LEARNERS: dict[str, Callable[[], Learner]] = {
    "river": RiverLinear,
    "vw": VowpalWabbit,
    "fast-without-ids": lambda: WithoutIds("fast"),
    "fast": lambda: InfiniteLayerRegressor("fast", seed=1),
    "accurate-without-ids": lambda: WithoutIds("accurate"),
    "accurate": lambda: InfiniteLayerRegressor(seed=1),
}


def evaluate(learner: Learner, events: list[Event]) -> tuple[float, float]:
    """Return the error over that of the running mean, and seconds of processor time."""
    error = of_mean = mean = seconds = 0.0
    for n, (x, y) in enumerate(events):
        of_mean += abs(y - mean)
        mean += (y - mean) / (n + 1)
        begun = time.process_time()
        error += abs(y - learner.predict_one(x))
        learner.learn_one(x, y)
        seconds += time.process_time() - begun
    return error / of_mean, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=30_000)
    parser.add_argument("--streams", nargs="+", default=STREAMS, choices=STREAMS)
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", IlnWarning)
    for name in options.streams:
        events = list(stream(name, options.events))
        for learner in options.learners:
            if learner == "vw" and importlib.util.find_spec("vowpalwabbit") is None:
                continue
            error, seconds = evaluate(LEARNERS[learner](), events)
            print(f"{name:20} {learner:22} {error:.4f} {seconds:7.1f} s", flush=True)


if __name__ == "__main__":
    main()
