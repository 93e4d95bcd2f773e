"""Held-out streams, which no decision about our predictions has used.

They show whether the learners compare as well with their peers on unseen streams. Never try, choose
or tune anything on them, or on others from the same generator or table; use other streams for that.
Their results have been read with each version; `held_out_2` has streams that nobody had looked at.
The intervals' method was looked at on them, though chosen elsewhere.
"""

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import datasets
from river.datasets import synth
from sklearn import datasets as bundled

from benchmarks.quality.streams.stream import Stream

Rows = Iterator[tuple[dict[str, Any], float]]
Matrix = NDArray[np.float64]

N_SYNTHETIC = 3000
SEED = 1742


def _rows(X: NDArray[Any], y: NDArray[Any], names: list[str] | None = None) -> Rows:
    columns = names or [f"x{i}" for i in range(X.shape[1])]
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        yield dict(zip(columns, row, strict=True)), float(target)


def _digits() -> Rows:
    data = bundled.load_digits()
    return _rows(data.data, data.target, list(data.feature_names))


def _wine() -> Rows:
    # Ordered by cultivar: two abrupt changes.
    data = bundled.load_wine()
    return _rows(data.data[:, :-1], data.data[:, -1], list(data.feature_names)[:-1])


def _stock() -> Rows:
    for returns, _ in datasets.SP500Stocks():
        x = dict(returns)
        y = x.pop("MSFT")
        yield x, y


def _solar_flares() -> Rows:
    for x, y in datasets.SolarFlare():
        yield x, y["c-class-flares"]


def _led() -> Rows:
    return iter(synth.LED(seed=SEED, noise_percentage=0.1, irrelevant_features=True))


def _agrawal() -> Rows:
    for function in (2, 6, 2):
        for x, y in islice(synth.Agrawal(function, seed=SEED, perturbation=0.05), 1000):
            yield x, 1.0 if y else -1.0


def _heavy_tails() -> Rows:
    draws = np.random.RandomState(SEED)
    X = draws.lognormal(sigma=1.5, size=(N_SYNTHETIC, 6))
    u = np.log(X)
    noise = draws.standard_t(df=2, size=N_SYNTHETIC)
    y = u[:, 0] * u[:, 1] + 2 * np.abs(u[:, 2]) + u[:, 3] + 0.3 * noise
    return _rows(1e6 + 1e3 * X, 1e4 + 50 * y)


def _mackey_glass() -> Rows:
    """The next value of a chaotic series from six of its past, 6 steps apart."""
    delay, gap, n_lags = 17, 6, 6
    series = [1.2] * (delay + 1)
    for _ in range(N_SYNTHETIC + 500):
        late = series[-1 - delay]
        square = late * late
        tenth = square * square * square * square * square  # products are the same everywhere
        series.append(0.9 * series[-1] + 0.2 * late / (1 + tenth))
    noise = np.random.RandomState(SEED).normal(scale=0.02, size=len(series)).tolist()
    seen = [value + e for value, e in zip(series, noise, strict=True)]
    for t in range(len(seen) - N_SYNTHETIC, len(seen)):
        yield {f"lag{k}": seen[t - gap * k] for k in range(1, n_lags + 1)}, seen[t]


def _product(X: Matrix) -> Matrix:
    return 2 * X[:, 0] * X[:, 1] + np.abs(X[:, 2])


def _peaks(X: Matrix) -> Matrix:
    return 2 * np.maximum(X[:, 3], X[:, 4]) - X[:, 5] * X[:, 5]


def _plane(X: Matrix) -> Matrix:
    return X[:, 6] - 2 * X[:, 0] + X[:, 7]


def _concepts(*blocks: tuple[Callable[[Matrix], Matrix], int]) -> Rows:
    draws = np.random.RandomState(SEED)
    for concept, size in blocks:
        X = draws.normal(size=(size, 8))
        yield from _rows(X, concept(X) + draws.normal(scale=0.3, size=size))


def _turning_ridge() -> Rows:
    draws = np.random.RandomState(SEED)
    for t in range(N_SYNTHETIC):
        x = draws.uniform(-1, 1, size=6).tolist()
        angle = math.pi * t / N_SYNTHETIC
        along = math.cos(angle) * x[0] + math.sin(angle) * x[1]
        y = math.exp(-4 * along * along) + 0.5 * x[2] + 0.1 * float(draws.normal())
        yield {f"x{i}": value for i, value in enumerate(x)}, y


HELD_OUT = (
    Stream(
        "digits-value",
        "held-out",
        "scikit-learn's 8×8 digits, the digit as a number, 1,797 images, 64 inputs",
        _digits,
        checksum="51ab7c79e886a083",
    ),
    Stream(
        "wine-proline",
        "held-out",
        "scikit-learn's wine: proline from the 12 other measurements, 178 wines by cultivar",
        _wine,
        checksum="9ea52d71ea941976",
    ),
    Stream(
        "stock-return",
        "held-out",
        "River's SP500Stocks: a day's return of one stock from that of nine others, 1,257 days",
        _stock,
        checksum="18037fe0251114a5",
    ),
    Stream(
        "solar-flares",
        "held-out",
        "River's SolarFlare: number of C-class flares, 1,066 regions, mostly 0, mostly categories",
        _solar_flares,
        checksum="2e6969b227894268",
    ),
    Stream(
        "led-value",
        "held-out",
        "River's LED, the digit as a number: 7 noisy segments and 17 irrelevant inputs",
        _led,
        checksum="a05c761f30a9d812",
        limit=N_SYNTHETIC,
    ),
    Stream(
        "agrawal-drift",
        "held-out",
        "River's Agrawal as ±1, functions 2, 6 and 2 again, 1,000 events each",
        _agrawal,
        checksum="906499ffe38734b7",
    ),
    Stream(
        "heavy-tails",
        "held-out",
        "Log-normal inputs at an offset of 1e6, products and a kink, Student-t(2) noise",
        _heavy_tails,
        checksum="9bf834d99ac52e3a",
    ),
    Stream(
        "mackey-glass",
        "held-out",
        "A Mackey-Glass series from six of its past values, noise 0.02 on all",
        _mackey_glass,
        checksum="e4470fa921f45250",
    ),
    Stream(
        "recurring-concepts",
        "held-out",
        "Three functions of 8 inputs, in the order A B A C B A, 800 events each",
        lambda: _concepts(
            *((c, 800) for c in (_product, _peaks, _product, _plane, _peaks, _product))
        ),
        checksum="8047e5ce64a96519",
    ),
    Stream(
        "late-concept",
        "held-out",
        "One function of 8 inputs for 4,000 events, then another, of other inputs, for 2,000",
        lambda: _concepts((_product, 4000), (_peaks, 2000)),
        checksum="edfaf9f47a9ff7c5",
    ),
    Stream(
        "turning-ridge",
        "held-out",
        "A ridge that turns by half a circle over the whole stream, 6 inputs, noise 0.1",
        _turning_ridge,
        checksum="e82622dacc9586ac",
    ),
)
