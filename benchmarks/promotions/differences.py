"""Differences of two contenders' losses, many streams at once, in chunks of 400 events."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

CHUNK = 400
DEVIATION = 0.15
"""Of normal differences."""

Chunk = NDArray[np.float64]
"""(events, streams)"""


class Autoregression:
    """Stationary AR(1) processes with mean 0 and variance 1."""

    def __init__(self, rng: np.random.Generator, n_streams: int, correlation: float) -> None:
        self._rng, self._correlation = rng, correlation
        self._state = rng.standard_normal((1, n_streams)) * correlation

    def next(self) -> Chunk:
        """Return the next events."""
        noise = self._rng.standard_normal((CHUNK, self._state.shape[1]))
        noise *= np.sqrt(1.0 - self._correlation**2)
        x, self._state = lfilter([1.0], [1.0, -self._correlation], noise, axis=0, zi=self._state)
        return x


class ReflectedWalk:
    """Random walks in [0, 1], reflected at its ends."""

    def __init__(self, rng: np.random.Generator, n_streams: int, step: float) -> None:
        self._rng, self._step = rng, step
        self._at = rng.uniform(0.0, 2.0, n_streams)

    def next(self) -> Chunk:
        """Return the next events."""
        steps = self._rng.normal(0.0, self._step, (CHUNK, len(self._at)))
        x = self._at + np.cumsum(steps, axis=0)
        self._at = x[-1]
        return 1.0 - np.abs(x % 2.0 - 1.0)


def autocorrelated(
    rng: np.random.Generator, n_streams: int, correlation: float, white: float = 0.0
) -> Iterator[Chunk]:
    """Yield an autoregression, of whose variance a share is replaced by white noise."""
    process = Autoregression(rng, n_streams, correlation)
    while True:
        x = np.sqrt(1.0 - white) * process.next()
        x += np.sqrt(white) * rng.standard_normal(x.shape)
        yield (DEVIATION * x).clip(-1.0, 1.0)


def common_walk(rng: np.random.Generator, n_streams: int) -> Iterator[Chunk]:
    """Yield differences of |errors| whose common scale walks between 1/7 and 1."""
    level = ReflectedWalk(rng, n_streams, 0.01)
    errors = [Autoregression(rng, n_streams, 0.9) for _ in range(2)]
    while True:
        scale = 0.5 * np.exp(2.0 * level.next() - 2.0)
        one, other = (np.minimum(scale * np.abs(error.next()), 1.0) for error in errors)
        yield one - other


def two_walks(rng: np.random.Generator, n_streams: int) -> Iterator[Chunk]:
    """Yield differences of losses that are walks of their own, over some 2,000 events."""
    one, other = (ReflectedWalk(rng, n_streams, 0.01) for _ in range(2))
    while True:
        yield one.next() - other.next()


def rare_loss(rng: np.random.Generator, n_streams: int, share: float) -> Iterator[Chunk]:
    """Yield differences of mean 0 that are small and positive, but for a share near -1."""
    while True:
        yield share - (rng.random((CHUNK, n_streams)) < share)


def disagreements(rng: np.random.Generator, n_streams: int, share: float) -> Iterator[Chunk]:
    """Yield differences that are mostly 0: one of two classifiers is wrong for a share."""
    while True:
        u = rng.random((CHUNK, n_streams))
        yield (u < share / 2).astype(float) - (u > 1.0 - share / 2)


Kind = Callable[[np.random.Generator, int], Iterator[Chunk]]

EQUAL: dict[str, Kind] = {
    "independent": partial(autocorrelated, correlation=0.0),
    "AR(1), .5": partial(autocorrelated, correlation=0.5),
    "AR(1), .9": partial(autocorrelated, correlation=0.9),
    "AR(1), .99": partial(autocorrelated, correlation=0.99),
    "AR(1), .999": partial(autocorrelated, correlation=0.999),
    "5 % AR(1), .99, in white noise": partial(autocorrelated, correlation=0.99, white=0.95),
    "scale of both walks, AR(1), .9": common_walk,
    "each loss walks": two_walks,
    "1 % of losses near 1": partial(rare_loss, share=0.01),
    ".3 % of losses near 1": partial(rare_loss, share=0.003),
    "classes, 1 % disagreements": partial(disagreements, share=0.01),
}
"""Of contenders with equal mean losses."""


def improved(
    rng: np.random.Generator, n_streams: int, gain: float, correlation: float, common: float
) -> Iterator[Chunk]:
    """Yield differences of bounded losses of normal errors, one's smaller by the share `gain`.

    Errors are AR(1), and those of the two contenders correlate with `common`.
    """
    shared, one, other = (Autoregression(rng, n_streams, correlation) for _ in range(3))
    at_most_1 = 4.0 * np.sqrt(2.0 / np.pi)  # the loss of `BoundedError`, its scale known
    while True:
        both = np.sqrt(common) * shared.next()
        errors = (both + np.sqrt(1.0 - common) * own.next() for own in (one, other))
        champion, challenger = (np.abs(error) / at_most_1 for error in errors)
        yield np.minimum(champion, 1.0) - np.minimum((1.0 - gain) * challenger, 1.0)
