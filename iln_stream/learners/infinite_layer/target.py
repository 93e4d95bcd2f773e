"""The target's scale."""

from collections.abc import Mapping
from typing import Any

from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.moments import LARGEST_VALUE, Moments

WIDTH = 3.0
"""Standard deviations that make one unit of the scale."""

FENCE = 2.0
"""A scaled target is clipped here: at 6 sd."""


class Target(Part):
    """Takes targets to t = (y - mean) / (3 sd), |t| <= 2, by running winsorised statistics."""

    def __init__(self) -> None:
        self._moments = Moments()

    @property
    def center(self) -> float:
        """The target at which t = 0."""
        return self._moments.mean

    @property
    def unit(self) -> float:
        """Difference in y that is 1 in t; positive, 1 while all targets agree."""
        return WIDTH * self._moments.sd or 1.0

    def join(self, y: float) -> None:
        """Let y join the statistics."""
        self._moments = self._moments.updated(y)

    def scaled(self, y: float) -> float:
        """Return y as t."""
        y = max(-LARGEST_VALUE, min(y, LARGEST_VALUE))
        return max(-FENCE, min((y - self.center) / self.unit, FENCE))

    def raw(self, t: float) -> float:
        """Return t as y."""
        return self.center + self.unit * t

    def state(self) -> dict[str, Any]:
        """Return the statistics."""
        m = self._moments
        return {"n": m.n, "mean": m.mean, "variance": m.variance}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state` returned."""
        self._moments = Moments(state["n"], state["mean"], state["variance"])
