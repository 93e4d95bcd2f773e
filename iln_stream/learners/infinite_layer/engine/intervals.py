"""Prediction intervals that keep their coverage, mixed from rolling quantiles of the errors."""

import math
from collections.abc import Collection

import numpy as np

from iln_stream.compiled import mixed_intervals as kernels
from iln_stream.learners.infinite_layer.part import Part


class Intervals(Part):
    r"""Intervals around the prediction from the errors $y - \hat y$ of the last 500 events.

    Six experts offer an interval at each of the levels .5, .8, .9, .95 and .99: conformal quantiles
    of the last 500, 100 and 20 errors, either symmetric, from |error|, or with a separate quantile
    of the error for each end. Three steps combine them into one interval:

    1. **Mixing.** ML-Poly, as in `MLPoly`, on the interval score [^1], width +
       2 / (1 - level) for each unit by which the target is missed; a discount of .999. The
       rule's regret bound holds against the best mixture of the six, and so against a rolling
       quantile of the last 500, which is one of them.
    2. **Coverage.** With M the misses so far in excess of (1 - level) n, discounted by .9999, and
       z = M / (its standard error), ends are moved away from the prediction by the factor
       $\exp(\pm .2 z^4)$, within e^{+-2}: nearly nothing within one standard error, a lot beyond
       two. Chance deviations of a small sample are tolerated, and the coverage of a long one is
       kept, as by conformal inference with decaying steps [^2], unless the errors grow to more
       than e^2 times those in the windows.
    3. **Range.** Where this has improved the score so far, an end is clipped to the range of the
       targets seen.

    Intervals always contain the prediction, and one of a higher level contains those of lower
    levels.

    References
    ----------
    [^1]: T. Gneiting, A. Raftery. Strictly proper scoring rules, prediction, and estimation.
    Journal of the American Statistical Association 102, 2007, section 6.2.
    [^2]: A. Angelopoulos, R. Barber, S. Bates. Online conformal prediction with decaying step
    sizes. ICML 2024.

    """

    kept = fixed = ("errors", "rules", "tallies", "record")

    def __init__(self) -> None:
        self.errors = np.zeros((1 + kernels.N_EXPERTS, max(kernels.WINDOWS)))
        self.rules = np.zeros((4, kernels.N_RULES))
        self.tallies = np.zeros((len(kernels.LEVELS), 4))
        self.record = np.zeros(3)  # events learned, the smallest and the largest target

    def around(self, prediction: float, level: float) -> tuple[float, float]:
        """Return the ends of the interval at a level in (0, 1); prediction +- 1 at first.

        Ends are interpolated between the five levels; towards 0 they approach the prediction,
        towards 1 the largest errors of the window. Those of a broken state are as at first.
        """
        learned = self.record[0] - 1.0
        if not learned >= 1.0:
            return prediction - 1.0, prediction + 1.0
        n = int(min(learned, self.errors.shape[1]))
        ends = np.full((len(kernels.LEVELS) + 2, 2), prediction)
        kernels.intervals(
            self.errors, self.rules, self.tallies, self.record, prediction, ends[1:-1]
        )
        signed = self.errors[2]
        ends[-1, 0] = min(ends[-2, 0], prediction + signed[0])
        ends[-1, 1] = max(ends[-2, 1], prediction + signed[n - 1])
        levels = [0.0, *kernels.LEVELS, 1.0]
        low, high = (float(np.interp(level, levels, end)) for end in ends.T)
        if not math.isfinite(low + high):
            return prediction - 1.0, prediction + 1.0
        return low, high

    def learn(self, prediction: float, y: float) -> None:
        """Learn that y was observed for this prediction."""
        kernels.learn_interval(self.errors, self.rules, self.tallies, self.record, prediction, y)

    def reinitialise(self, broken: Collection[str]) -> None:
        """Forget the weights and the misses; and the errors, if these or the record are broken."""
        self.rules[:] = 0.0
        self.tallies[:] = 0.0
        if not {"errors", "record"}.isdisjoint(broken):
            self.errors[:] = 0.0
            self.record[:] = 0.0
