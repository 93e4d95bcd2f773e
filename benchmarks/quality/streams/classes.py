"""Streams whose targets are classes."""

import bz2
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from river import datasets

from benchmarks.quality.streams.data_folder import data_file
from benchmarks.quality.streams.stream import Stream

N_ADULT = 8000
N_ADULT_COLUMNS = 123
N_IMBALANCED = 20_000


def _adult() -> Iterator[tuple[dict[str, float], bool]]:
    with bz2.open(data_file("adult.trn.bz2"), "rt", encoding="ascii") as lines:
        for line in lines:
            label, *ones = line.split()
            x = dict.fromkeys(map(str, range(N_ADULT_COLUMNS)), 0.0)
            x.update({cell.split(":")[0]: 1.0 for cell in ones})
            yield x, float(label) > 0


def _imbalanced(
    logit: Callable[[np.random.Generator], tuple[NDArray[np.float64], NDArray[np.float64]]],
    share: float,
    sharpness: float,
    seed: int,
) -> Iterator[tuple[dict[str, float], bool]]:
    """Yield labels drawn with a given share of ones: P(one) is the logistic function of a logit.

    The logit, which `logit` returns after the inputs, is scaled to standard deviation `sharpness`;
    its offset is found by bisection.
    """
    rng = np.random.default_rng(seed)
    X, f = logit(rng)
    f = sharpness * (f - f.mean()) / f.std()
    low, high = -60.0, 60.0
    for _ in range(80):
        middle = (low + high) / 2
        if (1 / (1 + np.exp(-f - middle))).mean() > share:
            high = middle
        else:
            low = middle
    ones = rng.random(len(f)) < 1 / (1 + np.exp(-f - low))
    names = [f"x{j}" for j in range(X.shape[1])]
    for row, y in zip(X.tolist(), ones.tolist(), strict=True):
        yield dict(zip(names, row, strict=True)), y


def _bumps(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    X = rng.uniform(-1, 1, size=(N_IMBALANCED, 8))
    centers = rng.uniform(-0.7, 0.7, size=(6, 4))
    bumps = [np.exp(-((X[:, :4] - c) ** 2).sum(axis=1) / 0.3) for c in centers]
    return X, 2 * sum(bumps) + X[:, 4] * X[:, 5]


def _hidden_layer(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    d, R = 15, 12
    X = rng.normal(size=(N_IMBALANCED, d))
    W = 2 * rng.normal(size=(d, R)) / np.sqrt(d)
    return X, np.tanh(X @ W + rng.normal(size=R)) @ rng.normal(size=R)


CLASSES = (
    Stream(
        "phishing",
        "classes",
        "1,250 phishing sites, 9 inputs, 2 classes",
        datasets.Phishing,
        checksum="842ac28d600c5a68",
    ),
    Stream(
        "bananas",
        "classes",
        "Two banana-shaped clusters, 5,300 points, 2 inputs, 2 classes",
        datasets.Bananas,
        checksum="6ad12d95b9e3be80",
    ),
    Stream(
        "image-segments",
        "classes",
        "2,310 patches of outdoor images, 18 inputs, 7 classes",
        datasets.ImageSegments,
        checksum="52ecfde8d0b089ce",
    ),
    Stream(
        "adult",
        "classes",
        "UCI adult, the first 8,000 rows of the training file, 123 binary inputs, 2 classes",
        _adult,
        checksum="7faa85609b5c1887",
        limit=N_ADULT,
    ),
    Stream(
        "rare-bumps",
        "classes",
        "Six bumps and a product, 20,000 events, 8 inputs, 2 classes, one of 1 %",
        lambda: _imbalanced(_bumps, 0.01, 3.5, seed=21),
        checksum="5f20a1517f6fd39d",
    ),
    Stream(
        "hidden-layer",
        "classes",
        "A hidden layer of 12 units, 20,000 events, 15 inputs, 2 classes, one of 10 %",
        lambda: _imbalanced(_hidden_layer, 0.10, 5.0, seed=22),
        checksum="54cf2b1e9273054c",
    ),
)
