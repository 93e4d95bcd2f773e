"""Designs that were tried, on the sums of blocks of 16 events, many streams at once."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.promotions.differences import CHUNK, Chunk

EVENTS = 16
ERROR = 0.05

Floats = NDArray[np.float64]


class Sums:
    """Of each stream the squares and products of blocks of 16, 32, 64, ... events."""

    def __init__(self, n_streams: int, n_lengths: int = 14) -> None:
        self.n_blocks = 0
        self.total = np.zeros(n_streams)
        self.counts = [0] * n_lengths
        self.rest, self.squares, self.products, self.first, self.last = (
            np.zeros((n_lengths, n_streams)) for _ in range(5)
        )

    def add(self, block: Floats) -> None:
        """Add a block of 16 events of each stream."""
        self.n_blocks += 1
        self.total = self.total + block
        self.rest += block
        for k in range(len(self.counts)):
            if self.n_blocks % (1 << k):
                break
            ended = self.rest[k].copy()
            self.squares[k] += ended**2
            if self.counts[k]:
                self.products[k] += ended * self.last[k]
            else:
                self.first[k] = ended
            self.last[k] = ended
            self.counts[k] += 1
            self.rest[k] = 0.0

    def variance(self, k: int, standard_errors: float | None) -> Floats:
        """Return the variance of the total by blocks of 16 * 2^k events.

        It is inflated by their autocorrelation, at so many standard errors above its estimate; with
        None it is not.
        """
        n, block = self.counts[k], self.total / self.n_blocks * (1 << k)
        variance = self.squares[k] + self.rest[k] ** 2
        if standard_errors is None:
            return variance
        total = self.total - self.rest[k]
        squares = self.squares[k] - 2.0 * block * total + n * block**2
        inner = 2.0 * total - self.first[k] - self.last[k]
        r = (self.products[k] - block * inner + (n - 1) * block**2) / np.maximum(squares, 1e-12)
        r = r.clip(-1.0, 1.0)
        r = r + (1.0 + 3.0 * r.clip(0.0)) / n + standard_errors * np.sqrt((1.0 - r**2) / n)
        r = r.clip(0.0, 0.99)
        return variance * (1.0 + r) / (1.0 - r)


Design = Callable[[Sums], Floats | None]
"""Returns the estimated variance of the total of each stream; None while nothing is decided."""


def one_length(k: int) -> Design:
    """Blocks of 16 * 2^k events, at least eight."""
    return lambda sums: sums.variance(k, None) if sums.counts[k] >= 8 else None


def all_lengths(least: int, standard_errors: float | None) -> Design:
    """The largest variance by all lengths of which there are so many blocks."""

    def variance(sums: Sums) -> Floats | None:
        counting = [k for k, n in enumerate(sums.counts) if n >= least]
        found = [sums.variance(k, standard_errors) for k in counting]
        return np.max(found, axis=0) if found else None

    return variance


DESIGNS: dict[str, tuple[Design, float]] = {
    "blocks of 16": (one_length(0), 4.0),
    "blocks of 256": (one_length(4), 4.0),
    "blocks of 1,024": (one_length(6), 4.0),
    "all lengths agree": (all_lengths(32, None), 4.0),
    "and r": (all_lengths(32, 0.0), 4.0),
    "and r + 1 s.e.": (all_lengths(32, 1.0), 4.0),
    "scale 1": (all_lengths(32, 1.0), 1.0),
    "16 blocks": (all_lengths(16, 1.0), 4.0),
    "64 blocks": (all_lengths(64, 1.0), 4.0),
}
"""Variances, and the scale of the boundary. The sixth is `Evidence` without new beginnings."""


def events_to_promotion(
    chunks: Iterator[Chunk], n_streams: int, n_events: int
) -> dict[str, Floats]:
    """Return, by design and for each stream, the events until the challenger is better."""
    found = {name: np.full(n_streams, np.inf) for name in DESIGNS}
    sums = Sums(n_streams)
    for _ in range(0, n_events, CHUNK):
        for block in next(chunks).reshape(-1, EVENTS, n_streams).sum(axis=1):
            sums.add(block)
            for name, (design, scale) in DESIGNS.items():
                if (variance := design(sums)) is None:
                    continue
                variance = variance + scale
                boundary = variance * np.log(variance / (scale * ERROR**2))
                better = (sums.total > 0.0) & (sums.total**2 > boundary)
                found[name][better & np.isinf(found[name])] = EVENTS * sums.n_blocks
    return found
