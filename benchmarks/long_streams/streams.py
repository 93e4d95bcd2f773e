"""Long streams, made anew from a seed: the networks' settings were chosen on `DESIGN` streams."""

from collections.abc import Callable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Function = Callable[[Array, NDArray[np.int64]], Array]
"""The noiseless target of rows (n, d) with these event numbers (n,)."""

AT_ONCE = 10_000
NOISE = 0.1
"""Standard deviation of the noise, in those of the noiseless target."""


class LongStream(NamedTuple):
    """A stream without end: inputs, a target, noise.

    Parameters
    ----------
    description
        For the documents.
    d
        Number of inputs.
    make
        Returns, given a generator, the function and another that draws n rows.

    """

    description: str
    d: int
    make: Callable[[np.random.Generator], tuple[Function, Callable[[int], Array]]]

    def events(self, n: int, seed: int) -> Iterator[tuple[dict[str, float], float]]:
        """Yield n events."""
        rng = np.random.default_rng([seed, self.d])
        function, draw = self.make(rng)
        sample = function(draw(AT_ONCE), np.zeros(AT_ONCE, np.int64))
        center, sd = sample.mean(), sample.std()
        names = [f"x{j}" for j in range(self.d)]
        for first in range(0, n, AT_ONCE):
            X = draw(AT_ONCE)
            y = (function(X, np.arange(first, first + AT_ONCE)) - center) / sd
            y += NOISE * rng.normal(size=AT_ONCE)
            for row, y_t in islice(zip(X.tolist(), y.tolist(), strict=True), n - first):
                yield dict(zip(names, row, strict=True)), y_t


def _normal(rng: np.random.Generator, d: int) -> Callable[[int], Array]:
    return lambda n: rng.normal(size=(n, d))


def _one_layer(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    W, b, a = (
        3.0 * rng.normal(size=(10, 40)) / np.sqrt(10),
        rng.normal(size=40),
        rng.normal(size=40),
    )
    return lambda X, _: np.tanh(X @ W + b) @ a, _normal(rng, 10)


def _deep(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    sizes = [30, 40, 40, 40]
    layers = [
        (rng.normal(size=(m, n)) / np.sqrt(m) * 1.6, 0.3 * rng.normal(size=n))
        for m, n in pairwise(sizes)
    ]
    a = rng.normal(size=40)

    def function(X: Array, _: NDArray[np.int64]) -> Array:
        H = X
        for W, b in layers:
            H = np.maximum((H - 0.4 * (H is not X)) @ W + b, 0.0)
        return H @ a

    return function, _normal(rng, 30)


def _products(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    def function(X: Array, _: NDArray[np.int64]) -> Array:
        waves = np.sin(3 * X[:, 2] + 2 * X[:, 3] * X[:, 4]) + 0.5 * np.cos(6 * X[:, 7])
        return X[:, 0] * X[:, 1] + waves + np.abs(X[:, 5]) * np.sign(X[:, 6])

    return function, _normal(rng, 8)


def _tree(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    d, depth, n_sample = 15, 8, 5_000

    def draw(n: int) -> Array:
        # Every third input is log-normal, the others uniform.
        skewed = np.arange(d) % 3 == 0
        return np.where(skewed, np.exp(rng.normal(size=(n, d))), rng.random((n, d)))

    ordered = np.sort(draw(n_sample), axis=0)
    splits = []  # by level: each node's input and threshold
    for level in range(depth):
        inputs, shares = rng.integers(0, d, 2**level), rng.uniform(0.25, 0.75, 2**level)
        splits.append((inputs, ordered[(shares * n_sample).astype(int), inputs]))
    leaves, slopes = rng.normal(size=2**depth), 0.3 * rng.normal(size=d) / np.sqrt(d)

    def function(X: Array, _: NDArray[np.int64]) -> Array:
        rows, node = np.arange(len(X)), np.zeros(len(X), np.int64)
        for inputs, thresholds in splits:
            node = 2 * node + (X[rows, inputs[node]] > thresholds[node])
        return leaves[node] + X @ slopes

    return function, draw


def _categories(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    sizes = (30, 25, 8)
    shares = rng.dirichlet(np.full(sizes[0], 2.0))
    first, last = rng.normal(size=sizes[0]), rng.normal(size=sizes[2])
    cross, slopes = 0.7 * rng.normal(size=sizes[:2]), 0.7 * rng.normal(size=sizes[1:])

    def function(X: Array, _: NDArray[np.int64]) -> Array:
        a, b, c = (
            one_hot.argmax(axis=1) for one_hot in np.split(X[:, :63], np.cumsum(sizes)[:2], axis=1)
        )
        z = X[:, 63:]
        by_number = slopes[b, c] * z[:, 0] + last[c] * np.abs(z[:, 1]) + 0.4 * z[:, 2]
        return first[a] + cross[a, b] + by_number

    def draw(n: int) -> Array:
        codes = [
            rng.choice(sizes[0], n, p=shares),
            rng.integers(0, sizes[1], n),
            rng.integers(0, sizes[2], n),
        ]
        columns = [np.eye(size)[code] for size, code in zip(sizes, codes, strict=True)]
        return np.column_stack([*columns, rng.normal(size=(n, 3))])

    return function, draw


def _turning(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    W0, W1 = 2.0 * rng.normal(size=(2, 12, 30)) / np.sqrt(12)
    a = rng.normal(size=30)

    def function(X: Array, t: NDArray[np.int64]) -> Array:
        turn = 0.5 * np.pi * t[:, None] / 100_000
        return np.tanh(np.cos(turn) * (X @ W0) + np.sin(turn) * (X @ W1)) @ a

    return function, _normal(rng, 12)


def _bumps(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    centers, heights = rng.uniform(-1.5, 1.5, (120, 5)), rng.normal(size=120)

    def function(X: Array, _: NDArray[np.int64]) -> Array:
        squares = ((X[:, None, :] - centers) ** 2).sum(axis=2)
        return np.exp(-squares / 1.2) @ heights

    return function, lambda n: rng.uniform(-1.5, 1.5, (n, 5))


def _stumps(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    pairs = rng.integers(0, 14, (80, 2))
    cuts, heights = rng.uniform(0.2, 0.8, (80, 2)), rng.normal(size=80)

    def function(X: Array, _: NDArray[np.int64]) -> Array:
        return ((X[:, pairs] > cuts).all(axis=2)) @ heights

    return function, lambda n: rng.random((n, 14))


def _skewed(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    a = rng.normal(size=9)

    def function(X: Array, _: NDArray[np.int64]) -> Array:
        ratio = X[:, 0] / (0.5 + X[:, 1]) + np.log1p(X[:, 2] * X[:, 3])
        return np.minimum(ratio, 8.0) + np.sqrt(X[:, 4]) * np.sin(2 * X[:, 5]) + 0.3 * (X @ a)

    return function, lambda n: np.exp(0.8 * rng.normal(size=(n, 9)))


def _seasons(rng: np.random.Generator) -> tuple[Function, Callable[[int], Array]]:
    W, a = rng.normal(size=(4, 20)), rng.normal(size=20)

    def function(X: Array, _: NDArray[np.int64]) -> Array:
        hour, day = X[:, 0], X[:, 1]
        daily = np.sin(2 * np.pi * hour / 24) * (1.0 + 0.5 * np.cos(2 * np.pi * day / 7))
        rush = ((hour > 7) & (hour < 9) & (day < 5)) * 1.5
        return daily + rush + np.tanh(X[:, 2:6] @ W) @ a / np.sqrt(20)

    def draw(n: int) -> Array:
        clock = np.column_stack([rng.integers(0, 24, n), rng.integers(0, 7, n)])
        return np.column_stack([clock, rng.normal(size=(n, 4))])

    return function, draw


DESIGN = {
    "one-layer": LongStream("a network of 40 sharp tanh units", 10, _one_layer),
    "deep": LongStream("a deep random ReLU network", 30, _deep),
    "products": LongStream("products, waves and kinks", 8, _products),
    "tree": LongStream("a tree of depth 8 and a linear function", 15, _tree),
    "categories": LongStream(
        "three categories with crosses, three numbers with slopes by category", 66, _categories
    ),
    "turning": LongStream("a network whose first layer turns slowly", 12, _turning),
}
"""Kinds of streams on which the networks' sizes and rates were chosen."""

HELD_BACK = {
    "bumps": LongStream("120 Gaussian bumps", 5, _bumps),
    "stumps": LongStream("80 pairs of thresholds", 14, _stumps),
    "skewed": LongStream("ratios, logarithms and roots of log-normal inputs", 9, _skewed),
    "seasons": LongStream("hours, weekdays, a rush hour, four numbers", 6, _seasons),
}
"""Kinds made after the settings were final, and looked at once."""

STREAMS = DESIGN | HELD_BACK
