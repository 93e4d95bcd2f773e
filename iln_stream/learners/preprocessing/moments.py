"""Running mean and standard deviation, robust to outliers."""

import math

import numpy as np
from numpy.typing import NDArray

from iln_stream.state import StateDict, StateSchema


def clipped(value: float, bound: float) -> float:
    """Return the value within +-bound; nan stays nan.

    `max(-bound, min(value, bound))` would return -bound for nan, and a broken learner would look
    like one that predicts badly.

    Examples
    --------
    >>> from iln_stream.learners.preprocessing.moments import clipped
    >>> clipped(3.0, 2.0), clipped(-0.5, 2.0), clipped(float("nan"), 2.0)
    (2.0, -0.5, nan)

    """
    if value > bound:
        return bound
    return -bound if value < -bound else value


LARGEST_VALUE = 1e150
"""Values are clipped here, so that a square never overflows."""


_SCHEMA = StateSchema("iln_stream.Moments", 2)


class Moments:
    """Mean and variance of a stream of finite numbers, robust to outliers.

    As in `kernels.columns`: the first 30 values are clipped around their median, and
    later ones at +-6 sd, so one value moves the statistics by a bounded amount; after a lasting
    change of level or scale they start again from the new values.

    Parameters
    ----------
    statistics
        Of one column, (47, 1); by default those of none.

    """

    __slots__ = ("statistics",)

    def __init__(self, statistics: NDArray[np.float64] | None = None) -> None:
        if statistics is None:
            from iln_stream.kernels.columns import no_statistics

            statistics = no_statistics(1)
        self.statistics = statistics

    @property
    def n(self) -> int:
        """Number of values; after a change, 30 and those since."""
        return int(self.statistics[0, 0])

    @property
    def mean(self) -> float:
        """Their mean."""
        return float(self.statistics[1, 0])

    @property
    def variance(self) -> float:
        """Their variance."""
        n, _, squares = self.statistics[:3, 0].tolist()
        return squares / n if n else 0.0

    @property
    def sd(self) -> float:
        """Standard deviation; 0 while all values agree to within rounding."""
        n, mean, squares = self.statistics[:3, 0].tolist()
        return math.sqrt(squares / n) if squares > 1e-26 * n * mean**2 else 0.0

    def updated(self, value: float) -> "Moments":
        """Return the statistics with `value` included."""
        from iln_stream.kernels.columns import join_value

        statistics = self.statistics.copy()
        join_value(max(-LARGEST_VALUE, min(value, LARGEST_VALUE)), statistics, 0, 0)
        return Moments(statistics)

    def state(self) -> StateDict:
        """Return the statistics."""
        return _SCHEMA.write(statistics=self.statistics.copy())

    def restore(self, state: StateDict) -> None:
        """Take the statistics of a state."""
        (statistics,) = _SCHEMA.read(state, "statistics")
        self.statistics = statistics.copy()
