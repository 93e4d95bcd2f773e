"""The target's scale, and the signal of drift."""

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels.columns import CHANGED_AT, no_statistics
from iln_stream.kernels.regression_event import FAST, SLOW, center_and_unit, join_target
from iln_stream.learners.infinite_layer.memory import Memory
from iln_stream.learners.infinite_layer.part import Part


class Target(Part):
    """Scales targets to t = (y - mean) / (3 sd), |t| <= 2, by running winsorised statistics.

    After a change of the target's level or scale, mean and sd are those of the new targets. What
    was learned is in t, so predictions change with them. Statistics that are not finite are
    computed anew from the events in the memory.
    """

    kept = fixed = ("stats",)

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = memory
        self.stats = no_statistics(1)

    @property
    def center(self) -> float:
        """y where t = 0."""
        return float(center_and_unit(self.stats)[0])

    @property
    def changed_at(self) -> int:
        """The last event at which the target's level or scale changed; 0: none did."""
        changed_at = float(self.stats[CHANGED_AT, 0])
        return int(changed_at) if math.isfinite(changed_at) else 0

    @property
    def unit(self) -> float:
        """The unit of t in y's units; 1 while all targets agree."""
        return float(center_and_unit(self.stats)[1])

    def reinitialise(self, broken: Collection[str]) -> None:
        """Compute the statistics anew from the memory's targets."""
        self.stats[:] = no_statistics(1)
        if self.memory is not None:
            for n, i in self.memory.numbered():
                join_target(self.memory.y[i], self.stats, n)


class Drift(Part):
    """Mean |error| of about the last 50 events over that of about the last 1000.

    Errors are in units of the target's scale, so a change of that scale alone is no drift. About 1
    while the stream is steady; above 1.5 usually only after a change.
    """

    kept = fixed = ("record",)

    def __init__(self) -> None:
        self.record = np.zeros(3)  # events, mean |error| over about 50 and over about 1000

    @property
    def signal(self) -> float:
        """The ratio; 1 before the first event."""
        return signal(self.record)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Begin the means anew."""
        self.record[:] = 0.0


def signal(record: NDArray[np.float64]) -> float:
    """Return the ratio of the two means in a record; 1 before the first event."""
    fast, slow = record[FAST], record[SLOW]
    return float(fast / slow) if slow > 0.0 else 1.0
