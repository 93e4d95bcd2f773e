"""Running mean and standard deviation, robust to outliers."""

import math

from iln_stream.state import StateDict, StateSchema

LARGEST_VALUE = 1e150
"""Values are clipped here, so that a square never overflows."""

WINSORISE_FROM = 30
"""From this many values on, a value enters the statistics clipped to +-`WINSOR_SD`."""

WINSOR_SD = 6.0

_SCHEMA = StateSchema("iln_stream.Moments", 1)


def clipped_target(y: float) -> float:
    """Return the largest allowed target, with the sign of a target beyond `LARGEST_VALUE`.

    Raises
    ------
    ValueError
        When y is not a finite number.

    """
    if not math.isfinite(y):
        raise ValueError(f"y is {y}: targets must be finite numbers")
    return math.copysign(LARGEST_VALUE, y)


class Moments:
    """Mean and variance of a stream of finite numbers (Welford), winsorised at +-6 sd.

    One value moves the statistics by a bounded amount, yet they follow a lasting change of level:
    each value beyond the fence still moves them as far as the fence.
    """

    __slots__ = ("mean", "n", "variance")

    def __init__(self, n: int = 0, mean: float = 0.0, variance: float = 0.0) -> None:
        self.n = n
        self.mean = mean
        self.variance = variance

    @property
    def sd(self) -> float:
        """Standard deviation; 0 while all values agree to within rounding."""
        if self.variance <= 1e-26 * self.mean**2:
            return 0.0
        return math.sqrt(self.variance)

    def updated(self, value: float) -> "Moments":
        """Return the statistics with `value` included."""
        value = max(-LARGEST_VALUE, min(value, LARGEST_VALUE))
        delta = value - self.mean
        if self.n >= WINSORISE_FROM and self.variance > 0.0:
            fence = WINSOR_SD * math.sqrt(self.variance)
            delta = max(-fence, min(delta, fence))
        n = self.n + 1
        mean = self.mean + delta / n
        # The mean of squares rather than their sum: it stays below (2 LARGEST_VALUE)^2.
        variance = self.variance + (delta * (delta - delta / n) - self.variance) / n
        return Moments(n, mean, variance)

    def state(self) -> StateDict:
        """Return the three numbers."""
        return _SCHEMA.write(n=self.n, mean=self.mean, variance=self.variance)

    def restore(self, state: StateDict) -> None:
        """Take the three numbers of a state."""
        self.n, self.mean, self.variance = _SCHEMA.read(state, "n", "mean", "variance")
