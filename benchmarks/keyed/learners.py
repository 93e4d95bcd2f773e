"""Learners for streams of entities, each as a function from a stream to its predictions."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import linear_model, optim, preprocessing

from benchmarks.keyed.streams import Stream
from iln_stream.learners.infinite_layer.regressor import InfiniteLayerRegressor
from iln_stream.learners.keyed.regressor import KeyedRegressor

Predictions = NDArray[np.float64]
Event = dict[str, Any]


def _prequential(stream: Stream, learner: Any, seen: Callable[[str, Event], Event]) -> Predictions:
    """Predict each event, then learn it, as `seen` of its key and inputs."""
    names = [f"x{i}" for i in range(stream.x.shape[1])]
    found = np.empty(len(stream.y))
    rows = zip(stream.keys.tolist(), stream.x.tolist(), stream.y.tolist(), strict=True)
    for t, (key, values, y) in enumerate(rows):
        x = seen(f"k{key}", dict(zip(names, values, strict=True)))
        found[t] = learner.predict_one(x)
        learner.learn_one(x, y)
    return found


def by_key(stream: Stream, profile: str = "fast") -> Predictions:
    """`KeyedRegressor`, as it comes."""
    learner = KeyedRegressor("key", InfiniteLayerRegressor(profile, seed=1))
    return _prequential(stream, learner, lambda key, x: {**x, "key": key})


def one_global(stream: Stream) -> Predictions:
    """One model without the key."""
    return _prequential(stream, InfiniteLayerRegressor("fast", seed=1), lambda _, x: x)


def one_with_category(stream: Stream, profile: str = "fast") -> Predictions:
    """One model with the key as a category."""
    learner = InfiniteLayerRegressor(profile, seed=1)
    return _prequential(stream, learner, lambda key, x: {**x, f"key={key}": 1.0})


class _Separate:
    """A River linear regression for each key."""

    def __init__(self) -> None:
        self.models: dict[str, Any] = {}

    def predict_one(self, x: Event) -> float:
        return float(self._of(x).predict_one(x["x"]))

    def learn_one(self, x: Event, y: float) -> None:
        self._of(x).learn_one(x["x"], y)

    def _of(self, x: Event) -> Any:
        if x["key"] not in self.models:
            self.models[x["key"]] = preprocessing.StandardScaler() | linear_model.LinearRegression(
                optimizer=optim.SGD(0.05), intercept_lr=0.1
            )
        return self.models[x["key"]]


def separate(stream: Stream) -> Predictions:
    """River's standardised linear regression, one for each key."""
    return _prequential(stream, _Separate(), lambda key, x: {"key": key, "x": x})


CELLS = 2**18


def river_crosses(stream: Stream) -> Predictions:
    """River's linear regression with AdaGrad on the inputs and hashed crosses of key and inputs."""
    learner = linear_model.LinearRegression(optimizer=optim.AdaGrad(0.3), intercept_lr=0.05)

    def crossed(key: str, x: Event) -> Event:
        found: Event = dict(x)
        found[hash((key,)) % CELLS] = 1.0
        for name, value in x.items():
            found[hash((key, name)) % CELLS] = value
        return found

    return _prequential(stream, learner, crossed)


VW_OPTIONS = {
    "vw": "-b 22 -q kx --keep k --keep x",
    "vw, coin": "-b 22 -q kx --coin",
    "vw, l2": "-b 22 -q kx --l2 1e-6 --power_t 0.3",
}


def vw(options: str) -> Callable[[Stream], Predictions]:
    """VW with all crosses of key and inputs, in the environment of `VW_PYTHON`."""

    def run(stream: Stream) -> Predictions:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            np.savez(folder / "in.npz", keys=stream.keys, x=stream.x, y=stream.y)
            python = os.environ.get("VW_PYTHON", sys.executable)
            script = Path(__file__).with_name("vw_process.py")
            subprocess.run([python, script, folder, options], check=True)
            found: Predictions = np.load(folder / "out.npy")
            return found

    return run


LEARNERS: dict[str, Callable[[Stream], Predictions]] = {
    "by key": by_key,
    "one model": one_global,
    "one model, key as category": one_with_category,
    "separate, River linear": separate,
    "crosses, River": river_crosses,
    **{name: vw(options) for name, options in VW_OPTIONS.items()},
    "by key, accurate": partial(by_key, profile="accurate"),
    "one model, key as category, accurate": partial(one_with_category, profile="accurate"),
}

OF_MANY = tuple(name for name in LEARNERS if not name.endswith("accurate"))
"""Of streams with thousands of keys: without the slow profile."""

OF_FEW = tuple(name for name in LEARNERS if name.startswith(("by key", "one model, key")))
"""Of streams with 20 to 1,000 keys: ours by key, and with the key as a category."""
