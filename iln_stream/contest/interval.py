"""An interval for a mean, from a sum and its variance."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Self

from iln_stream.state import StateDict

SCALE = 4.0
"""The interval is tightest for sums of about eight times this variance."""

HALVINGS = 40
"""Of the part of [-1, 1] that contains an end."""

NEAREST = 1e-5
GROWTH = 1.25
"""An end is looked for at this distance from the mean difference, then at 1.25 times it, ..."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The means for which a sum is inside Robbins' boundary.

    Parameters
    ----------
    n, total
        Number of events and the sum of their differences, each in [-1, 1].
    variances
        Estimates (a, b, c): the variance of the sum about a mean m is a - 2bm + cm^2. The largest
        counts.
    error
        Probability that the interval misses the mean at any n.

    """

    n: int
    total: float
    variances: Sequence[tuple[float, float, float]]
    error: float

    def excludes(self, mean: float) -> bool:
        """Whether a mean is outside."""
        variance = SCALE + max(a - 2.0 * b * mean + c * mean * mean for a, b, c in self.variances)
        distance = self.total - self.n * mean
        return distance * distance > variance * log(variance / (SCALE * self.error * self.error))

    @property
    def lower(self) -> float:
        """The lower end; -1 if all smaller means are inside.

        The variance about a mean grows with its distance, so means far away may be inside again:
        the ends are those of the part around the mean difference.
        """
        return self._end(-1.0)

    @property
    def upper(self) -> float:
        """The upper end; 1 if all larger means are inside."""
        return self._end(1.0)

    def _end(self, limit: float) -> float:
        mean = self.total / self.n
        inside, step = mean, NEAREST
        while True:
            outside = mean + step if limit > mean else mean - step
            if abs(outside - mean) >= abs(limit - mean):
                outside = limit
            if self.excludes(outside):
                break
            if outside == limit:
                return limit
            inside, step = outside, GROWTH * step
        for _ in range(HALVINGS):
            mean = 0.5 * (inside + outside)
            if self.excludes(mean):
                outside = mean
            else:
                inside = mean
        return outside

    def state(self) -> StateDict:
        """Return the fields."""
        return {
            "n": self.n,
            "total": self.total,
            "variances": [list(abc) for abc in self.variances],
            "error": self.error,
        }

    @classmethod
    def of(cls, state: StateDict) -> Self:
        """Return the interval of a `state()`."""
        variances = [(a, b, c) for a, b, c in state["variances"]]
        return cls(state["n"], state["total"], variances, state["error"])
