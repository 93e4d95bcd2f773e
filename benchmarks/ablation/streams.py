"""Streams for design decisions, from generators and tables that are not reported on, except two.

`recur` and `late` use Friedman's function, on other inputs than River's streams of it do.
"""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import datasets
from river.datasets import synth
from sklearn import datasets as tables

Stream = list[tuple[dict[str, float], float]]
Array = NDArray[np.float64]

N = 3_000


def _rows(X: Array, y: Array) -> Stream:
    names = [f"x{j}" for j in range(X.shape[1])]
    pairs = zip(X.tolist(), y.tolist(), strict=True)
    return [(dict(zip(names, row, strict=True)), float(target)) for row, target in pairs]


def _shuffled(X: Array, y: Array) -> Stream:
    order = np.random.default_rng(1).permutation(len(y))
    return _rows(X[order], y[order])


def _river(stream: Iterable[tuple[dict[Any, Any], Any]], target: Callable[[Any], float]) -> Stream:
    return [({str(k): float(v) for k, v in x.items()}, target(y)) for x, y in stream]


def _signed(label: Any) -> float:
    return 2.0 * int(label) - 1.0


def _moons() -> Stream:
    X, label = tables.make_moons(N, noise=0.2, random_state=1)
    return _rows(X, 2.0 * label - 1.0)


def _cancer() -> Stream:
    cancer = tables.load_breast_cancer()
    return _shuffled(cancer.data, 2.0 * cancer.target - 1.0)


def _segments() -> Stream:
    number: dict[Any, int] = {}
    events = datasets.ImageSegments()
    return _river(events, lambda label: float(number.setdefault(label, len(number))))


def _tanh_network() -> Stream:
    rng = np.random.default_rng(0)
    inner, outer = rng.normal(size=(8, 20)) / np.sqrt(2.0), rng.normal(size=20)
    X = rng.normal(size=(N, 8))
    return _rows(X, np.tanh(X @ inner) @ outer + 0.1 * rng.normal(size=N))


def _seasonal() -> Stream:
    """Two seasons whose size grows, a trend and a random walk."""
    rng = np.random.default_rng(1)
    t = np.arange(2_000)
    season = 5.0 * np.sin(2.0 * np.pi * t / 24.0) * (1.0 + t / 2_000.0) + 3.0 * (t % 7 == 0)
    level = 10.0 + 0.02 * t + 0.3 * np.cumsum(rng.normal(size=len(t)))
    X = np.column_stack([t % 24, t % 7, t]).astype(float)
    return _rows(X, level + season + 0.5 * rng.normal(size=len(t)))


def _friedman(X: Array, j: int) -> Array:
    product = 10.0 * np.sin(np.pi * X[:, j] * X[:, j + 1])
    y: Array = product + 20.0 * (X[:, j + 2] - 0.5) ** 2 + 10.0 * X[:, j + 3] + 5.0 * X[:, j + 4]
    return y


def _recur() -> Stream:
    """Friedman's function on inputs 0-4, then on 6-10, then on 0-4 again."""
    rng = np.random.default_rng(2)
    X = rng.uniform(size=(6_000, 12))
    parts = [_friedman(X[i : i + 2_000], j) for i, j in ((0, 0), (2_000, 6), (4_000, 0))]
    return _rows(X, np.concatenate(parts) + rng.normal(size=6_000))


def _late() -> Stream:
    """Friedman's function on inputs 0-4 of 20 for 5,000 events, then on 10-14."""
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(9_000, 20))
    y = np.concatenate([_friedman(X[:5_000], 0), _friedman(X[5_000:], 10)])
    return _rows(X, y + rng.normal(size=9_000))


def _panel() -> Stream:
    """Growth curves of 40 plants, one after another."""
    rng = np.random.default_rng(4)
    events: Stream = []
    for plant in range(40):
        vigour, soil = float(np.exp(0.3 * rng.normal())), int(rng.integers(4))
        for day in range(0, 28, 2):
            size = 40.0 * (1.0 + 0.15 * soil) * np.exp(0.08 * vigour * day) / (1.0 + 0.01 * day)
            x = {"plant": float(plant), "day": float(day), "soil": float(soil)}
            events.append((x, float(size + 3.0 * rng.normal())))
    return events


def _panel_in_any_order() -> Stream:
    events = _panel()
    return [events[i] for i in np.random.default_rng(5).permutation(len(events))]


STREAMS: dict[str, Callable[[], Stream]] = {
    "friedman2": lambda: _rows(*tables.make_friedman2(N, noise=20.0, random_state=1)),
    "friedman3": lambda: _rows(*tables.make_friedman3(N, noise=0.1, random_state=1)),
    "regression": lambda: _rows(
        *tables.make_regression(N, 20, n_informative=5, noise=20.0, random_state=1)
    ),
    "sparse": lambda: _rows(*tables.make_sparse_uncorrelated(N, random_state=1)),
    "swiss-roll": lambda: _rows(*tables.make_swiss_roll(N, noise=0.3, random_state=1)),
    "moons": _moons,
    "diabetes": lambda: _shuffled(*tables.load_diabetes(return_X_y=True)),
    "cancer": _cancer,
    "rbf": lambda: _river(synth.RandomRBF(1, 1, n_features=10, n_centroids=50).take(N), _signed),
    "hyperplane": lambda: _river(
        synth.Hyperplane(seed=1, n_features=10, n_drift_features=5, mag_change=0.001).take(N),
        _signed,
    ),
    "waveform": lambda: _river(synth.Waveform(seed=1).take(N), lambda label: float(label) - 1.0),
    "random-tree": lambda: _river(
        synth.RandomTree(1, 1, n_num_features=5, n_cat_features=2, n_categories_per_feature=3)
        .take(N),
        _signed,
    ),
    "segments": _segments,
    "tanh-network": _tanh_network,
    "seasonal": _seasonal,
    "recur": _recur,
    "late": _late,
    "panel": _panel,
    "panel-any-order": _panel_in_any_order,
}  # fmt: skip
