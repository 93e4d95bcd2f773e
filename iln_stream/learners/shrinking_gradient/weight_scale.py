"""How much an event's weight changes the step of Algorithm 1."""

import math


class WeightScale:
    """Weights of events, relative to the root mean square of all so far if that is above 1.

    The steps of a run whose weights are all the same number above 1 are then those without weights,
    and with the anytime step B / sqrt(t) a weighted one is w_t B / sqrt(sum_s w_s^2): the step of
    gradient descent on losses that are w_t times as steep. Weights up to 1 lower steps only.
    """

    def __init__(self) -> None:
        self.excess = 0.0  # the sum of w^2 - 1

    def relative(self, w: float, t: int) -> float:
        """Return the relative weight of event t, counted from 1, which counts from now on."""
        self.excess += w * w - 1.0
        return w / math.sqrt(1.0 + max(self.excess, 0.0) / t)
