"""Streams of entities with levels and slopes of their own.

The constants of the model by key were chosen on the streams of `DESIGN` alone; those of `HELD_BACK`
have other laws of effects, other common parts and other numbers of entities.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Rng = np.random.Generator


class Stream(NamedTuple):
    """Events in order: their keys (n,), inputs (n, d) and targets (n,); `noise`, the sd of what
    nobody can predict."""

    keys: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    noise: float


def _zipf(rng: Rng, k: int, n: int, exponent: float) -> NDArray[np.int64]:
    p = 1.0 / np.arange(1, k + 1) ** exponent
    return rng.permutation(k)[rng.choice(k, n, p=p / p.sum())]


def levels(rng: Rng, n: int) -> Stream:
    """400 entities that differ in level."""
    keys, x = rng.integers(400, size=n), rng.normal(size=(n, 5))
    y = x @ [1, -0.5, 0.3, 0, 0] + rng.normal(size=400)[keys]
    return Stream(keys, x, y + 0.5 * rng.normal(size=n), 0.5)


def slopes(rng: Rng, n: int) -> Stream:
    """1,000 entities that differ in level and all slopes."""
    keys, x = rng.integers(1000, size=n), rng.normal(size=(n, 5))
    y = x @ [1, -0.5, 0.3, 0, 0] + rng.normal(size=1000)[keys]
    y += (0.5 * rng.normal(size=(1000, 5))[keys] * x).sum(1)
    return Stream(keys, x, y + 0.5 * rng.normal(size=n), 0.5)


def rare(rng: Rng, n: int) -> Stream:
    """10,000 entities, few of them frequent, with levels and slopes."""
    keys, x = _zipf(rng, 10_000, n, 1.1), rng.normal(size=(n, 5))
    y = x @ [1, -0.5, 0.3, 0, 0] + rng.normal(size=10_000)[keys]
    y += (0.5 * rng.normal(size=(10_000, 5))[keys] * x).sum(1)
    return Stream(keys, x, y + 0.5 * rng.normal(size=n), 0.5)


def nonlinear(rng: Rng, n: int) -> Stream:
    """1,000 entities on a common part that is not linear."""
    keys, x = rng.integers(1000, size=n), rng.normal(size=(n, 5))
    y = 2 * np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + rng.normal(size=1000)[keys]
    y += (0.25 * rng.normal(size=(1000, 5))[keys] * x).sum(1)
    return Stream(keys, x, y + 0.5 * rng.normal(size=n), 0.5)


def drift(rng: Rng, n: int) -> Stream:
    """400 entities whose levels are random walks."""
    keys, x = rng.integers(400, size=n), rng.normal(size=(n, 5))
    level, walked = rng.normal(size=400), np.empty(n)
    for t, k in enumerate(keys):
        level[k] += 0.15 * rng.normal()
        walked[t] = level[k]
    y = x @ [1, -0.5, 0.3, 0, 0] + walked
    return Stream(keys, x, y + 0.5 * rng.normal(size=n), 0.5)


def nothing(rng: Rng, n: int) -> Stream:
    """1,000 keys that mean nothing."""
    keys, x = rng.integers(1000, size=n), rng.normal(size=(n, 5))
    y = 2 * np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2]
    return Stream(keys, x, y + 0.5 * rng.normal(size=n), 0.5)


def shops(rng: Rng, n: int) -> Stream:
    """800 shops of heavy-tailed sizes: a common curve of price, elasticities that differ, few
    inputs with effects of their own among eight."""
    keys, x = _zipf(rng, 800, n, 0.8), rng.uniform(-1.7, 1.7, size=(n, 8))
    common = np.exp(0.7 * x[:, 0]) + np.maximum(x[:, 1], 0) * 2
    size = 1.5 * rng.standard_t(4, size=800)
    elasticity = rng.gamma(2.0, 0.4, size=800)
    y = (
        common
        + size[keys]
        - elasticity[keys] * x[:, 0]
        + 0.3 * rng.normal(size=800)[keys] * x[:, 2]
    )
    return Stream(keys, x, y + 0.4 * rng.normal(size=n), 0.4)


def sensors(rng: Rng, n: int) -> Stream:
    """3,000 sensors with offsets and gains, whose offsets jump now and then, and noise that
    differs from sensor to sensor."""
    keys, x = rng.integers(3000, size=n), rng.normal(size=(n, 3))
    gain, offset = np.exp(0.3 * rng.normal(size=3000)), 4 * rng.normal(size=3000)
    shifted = np.empty(n)
    for t, k in enumerate(keys):
        if rng.random() < 0.01:
            offset[k] += 3 * rng.normal()
        shifted[t] = offset[k]
    signal = x[:, 0] + 0.5 * np.tanh(2 * x[:, 1]) + 0.3 * x[:, 2] ** 2
    sd = np.exp(0.5 * rng.normal(size=3000) - 1.2)
    return Stream(keys, x, gain[keys] * signal + shifted + sd[keys] * rng.normal(size=n), 0.34)


def clients(rng: Rng, n: int) -> Stream:
    """10,000 clients of three hidden kinds, few of them frequent; slopes depend on the kind."""
    keys, x = _zipf(rng, 10_000, n, 1.0), rng.normal(size=(n, 6))
    kind = rng.integers(3, size=10_000)
    weights = np.array([[1, 0, 0, 0.5, 0, 0], [-1, 1, 0, 0, 0, 0], [0, 0, 1.5, 0, -0.5, 0.5]])
    y = (weights[kind[keys]] * x).sum(1) + (2 * kind + 0.7 * rng.normal(size=10_000))[keys]
    y += 0.5 * np.cos(3 * x[:, 5])
    return Stream(keys, x, y + 0.3 * rng.normal(size=n), 0.3)


def few(rng: Rng, n: int, k: int, slope: float) -> Stream:
    """k entities on a common part that is not linear: levels, and slopes of standard deviation
    `slope`."""
    keys, x = rng.integers(k, size=n), rng.normal(size=(n, 5))
    y = 2 * np.sin(2 * x[:, 0]) + x[:, 1] * x[:, 2] + 2 * rng.normal(size=k)[keys]
    y += (slope * rng.normal(size=(k, 5))[keys] * x).sum(1)
    return Stream(keys, x, y + 0.5 * rng.normal(size=n), 0.5)


Make = Callable[[Rng, int], Stream]

DESIGN: dict[str, Make] = {
    each.__name__: each for each in (levels, slopes, rare, nonlinear, drift, nothing)
}
HELD_BACK: dict[str, Make] = {each.__name__: each for each in (shops, sensors, clients)}
FEW: dict[str, Make] = {
    f"{k} {kind}": partial(few, k=k, slope=slope)
    for k in (20, 100, 1000)
    for kind, slope in (("levels", 0.0), ("slopes", 0.5))
}


def stream(name: str, n: int, seed: int) -> Stream:
    """Return a stream by name; the same for the same seed."""
    return {**DESIGN, **HELD_BACK, **FEW}[name](np.random.default_rng(seed), n)
