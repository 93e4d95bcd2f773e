"""The target's scale."""

import math
from collections.abc import Collection

from iln_stream.compiled.column_statistics import CHANGED_AT, no_statistics
from iln_stream.compiled.target import center_and_unit, join_target
from iln_stream.learners.infinite_layer.engine.memory import Memory
from iln_stream.learners.infinite_layer.part import Part


class Target(Part):
    """Scales targets to t = (y - mean) / (3 sd), |t| <= 2, by running winsorised statistics.

    After a change of the target's level or scale, mean and sd are those of the new targets. What
    was learned is in t, so predictions change with them.

    Parameters
    ----------
    memory
        Events from which statistics that are not finite are computed anew.

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
