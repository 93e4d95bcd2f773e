"""The target's scale."""

from iln_stream.compiled.column_statistics import CHANGED_AT
from iln_stream.compiled.target import center_and_unit
from iln_stream.learners.infinite_layer.engine.inputs import no_statistics
from iln_stream.learners.infinite_layer.part import Part


class Target(Part):
    """Scales targets to t = (y - mean) / (3 sd), |t| <= 2, by running winsorised statistics.

    After a change of the target's level or scale, mean and sd are those of the new targets. What
    was learned is in t, so predictions change with them.
    """

    kept = fixed = ("stats",)

    def __init__(self) -> None:
        self.stats = no_statistics(1)

    @property
    def center(self) -> float:
        """y where t = 0."""
        return float(center_and_unit(self.stats)[0])

    @property
    def changed_at(self) -> int:
        """The last event at which the target's level or scale changed; 0: none did."""
        return int(self.stats[CHANGED_AT, 0])

    @property
    def unit(self) -> float:
        """The unit of t in y's units; 1 while all targets agree."""
        return float(center_and_unit(self.stats)[1])
