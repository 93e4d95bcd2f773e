"""One step of Algorithm 1, as it was taken."""

from typing import NamedTuple

from iln_stream.learners.estimators import Estimate


class Update(NamedTuple):
    """What Algorithm 1 did with the last labelled event.

    Parameters
    ----------
    estimate
        E_t, with its standard error and draws.
    y
        y_t as it was learned.
    shrunk
        Whether |E_t| >= 16 B, so that alpha was shrunk instead of appended to.

    """

    estimate: Estimate
    y: float
    shrunk: bool

    @property
    def loss(self) -> float:
        """(E_t - y_t)^2 / 2."""
        error = self.estimate.value - self.y
        return error * error / 2
