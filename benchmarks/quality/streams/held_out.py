"""Held out: streams that play no part in any design decision of ours.

They answer one question: are the learners as good, beside the same peers, where nobody looked? So
nothing is ever tried, chosen or tuned on them. What is to be tried on is to be found elsewhere.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import datasets
from river.datasets import synth
from sklearn import datasets as bundled

from benchmarks.quality.streams.stream import Stream

Rows = Iterator[tuple[dict[str, float], float]]

N_SYNTHETIC = 3000


def _rows(X: NDArray[Any], y: NDArray[Any], names: list[str] | None = None) -> Rows:
    columns = names or [f"x{i}" for i in range(X.shape[1])]
    for row, target in zip(X.tolist(), y.tolist(), strict=True):
        yield dict(zip(columns, row, strict=True)), float(target)


def _diabetes() -> Rows:
    data = bundled.load_diabetes(scaled=False)
    return _rows(data.data, data.target, list(data.feature_names))


def _digits() -> Rows:
    data = bundled.load_digits()
    return _rows(data.data, data.target, list(data.feature_names))


def _tumours() -> Rows:
    data = bundled.load_breast_cancer()
    names = [str(name) for name in data.feature_names]
    return _rows(data.data[:, :20], data.data[:, names.index("worst area")], names[:20])


def _water_flow() -> Rows:
    first = None
    for x, y in datasets.WaterFlow():
        time = x["Time"]
        first = first or time
        days = (time - first).total_seconds() / 86400
        yield {"hour": time.hour, "weekday": time.weekday(), "days": days}, y


def _friedman_2() -> Rows:
    return _rows(*bundled.make_friedman2(N_SYNTHETIC, noise=100.0, random_state=1742))


def _friedman_3() -> Rows:
    return _rows(*bundled.make_friedman3(N_SYNTHETIC, noise=0.1, random_state=1742))


def _swiss_roll() -> Rows:
    return _rows(*bundled.make_swiss_roll(N_SYNTHETIC, noise=0.5, random_state=1742))


def _saturated() -> Rows:
    X, y = bundled.make_regression(N_SYNTHETIC, 20, n_informative=8, random_state=1742)
    noise = np.random.RandomState(1742).normal(scale=0.1, size=N_SYNTHETIC)
    return _rows(X, np.tanh(y / np.std(y)) + noise)


def _heavy_tails() -> Rows:
    draws = np.random.RandomState(1742)
    X = draws.lognormal(sigma=1.5, size=(N_SYNTHETIC, 6))
    u = np.log(X)
    noise = draws.standard_t(df=2, size=N_SYNTHETIC)
    y = u[:, 0] * u[:, 1] + 2 * np.abs(u[:, 2]) + u[:, 3] + 0.3 * noise
    return _rows(1e6 + 1e3 * X, 1e4 + 50 * y)


def _moving_centroids() -> Rows:
    stream = synth.RandomRBFDrift(
        seed_model=1742,
        seed_sample=1743,
        n_features=5,
        n_centroids=20,
        n_drift_centroids=10,
        change_speed=0.002,
    )
    for x, y in stream:
        yield {f"x{i}": value for i, value in x.items()}, 1.0 if y else -1.0


def _blocks(sizes: tuple[int, ...]) -> Rows:
    """Friedman's function; in every second block it is a function of the inputs in reverse."""
    for block, size in enumerate(sizes):
        X, y = bundled.make_friedman1(size, noise=1.0, random_state=1742 + block)
        yield from _rows(X[:, ::-1] if block % 2 else X, y)


HELD_OUT = (
    Stream(
        "diabetes",
        "held-out",
        "scikit-learn's diabetes in the order it is kept, unscaled, 442 patients, 10 inputs",
        _diabetes,
        checksum="81d4e605873da154",
    ),
    Stream(
        "digits-value",
        "held-out",
        "scikit-learn's 8×8 digits, the digit as a number, 1,797 images, 64 inputs",
        _digits,
        checksum="51ab7c79e886a083",
    ),
    Stream(
        "tumours-worst-area",
        "held-out",
        "scikit-learn's breast cancer: worst area from means and errors, 569 tumours, 20 inputs",
        _tumours,
        checksum="85101d2b79280b20",
    ),
    Stream(
        "water-flow",
        "held-out",
        "River's WaterFlow by hour, weekday and days since the start, 1,268 hours",
        _water_flow,
        checksum="3ec58c9cfdbb5cae",
    ),
    Stream(
        "friedman-2",
        "held-out",
        "scikit-learn's make_friedman2, noise 100: inputs of four magnitudes",
        _friedman_2,
        checksum="aad8a70e13e999a9",
    ),
    Stream(
        "friedman-3",
        "held-out",
        "scikit-learn's make_friedman3, noise 0.1: a steep arctangent",
        _friedman_3,
        checksum="bf03768ea03af4ce",
    ),
    Stream(
        "swiss-roll",
        "held-out",
        "Position along a swiss roll from its three coordinates, noise 0.5",
        _swiss_roll,
        checksum="b60d24e3c19c4db4",
    ),
    Stream(
        "saturated-regression",
        "held-out",
        "make_regression behind a tanh, 20 inputs of which 8 matter, noise 0.1",
        _saturated,
        checksum="b2163dd61c596161",
    ),
    Stream(
        "heavy-tails",
        "held-out",
        "Log-normal inputs at an offset of 1e6, products and a kink, Student-t(2) noise",
        _heavy_tails,
        checksum="9bf834d99ac52e3a",
    ),
    Stream(
        "moving-centroids",
        "held-out",
        "River's RandomRBFDrift as ±1: 20 centroids in 5 dimensions, half of them moving",
        _moving_centroids,
        checksum="d9713968b9ba6d73",
        limit=N_SYNTHETIC,
    ),
    Stream(
        "recurring-drift",
        "held-out",
        "make_friedman1, the inputs' order reversed in every second block of 1,000; five blocks",
        lambda: _blocks((1000,) * 5),
        checksum="4a52b9cdb7d2c913",
    ),
    Stream(
        "late-drift",
        "held-out",
        "make_friedman1 for 4,000 events, then 2,000 with the inputs' order reversed",
        lambda: _blocks((4000, 2000)),
        checksum="add76ff0e3a686c7",
    ),
)
