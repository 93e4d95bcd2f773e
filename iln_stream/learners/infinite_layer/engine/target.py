"""The target's scale."""

from iln_stream.compiled.target import center_and_unit
from iln_stream.learners.infinite_layer.engine.inputs import no_statistics
from iln_stream.learners.infinite_layer.part import Part


class Target(Part):
    """Scales targets to t = (y - mean) / (3 sd), |t| <= 2, by running winsorised statistics."""

    kept = fixed = ("stats",)

    def __init__(self) -> None:
        self.stats = no_statistics(1)

    @property
    def center(self) -> float:
        """y where t = 0."""
        return float(center_and_unit(self.stats)[0])

    @property
    def unit(self) -> float:
        """The unit of t in y's units; 1 while all targets agree."""
        return float(center_and_unit(self.stats)[1])
