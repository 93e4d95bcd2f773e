"""The target's scale."""

from collections.abc import Mapping
from typing import Any

from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.moments import Moments

WIDTH = 3.0
"""Standard deviations that make one unit of the scale."""

FENCE = 2.0
"""A scaled target is clipped here: at 6 sd."""


class Target(Part):
    """Takes targets to t = (y - mean) / (3 sd), |t| <= 2, by running winsorised statistics."""

    def __init__(self) -> None:
        self._set(Moments())

    def _set(self, moments: Moments) -> None:
        self._moments = moments
        self.center = moments.mean  # y where t = 0
        self.unit = WIDTH * moments.sd or 1.0  # what is 1 in t; 1 while all targets agree

    def join(self, y: float) -> None:
        """Let y join the statistics."""
        self._set(self._moments.updated(y))

    def scaled(self, y: float) -> float:
        """Return y as t."""
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
        self._set(Moments(state["n"], state["mean"], state["variance"]))
