"""Prediction intervals that hold their coverage, by adaptive conformal inference."""

import numpy as np

from iln_stream.kernels import conformal as kernels
from iln_stream.learners.infinite_layer.part import Part

WINDOW = 500
LEVELS = np.array([0.5, 0.8, 0.9, 0.95, 0.99])
LARGEST_ERROR = 1e6


class Intervals(Part):
    """Intervals around the prediction from the last 500 errors |y - yhat|.

    Errors are in units of the target's scale. Which quantile of them is taken adapts online [^1]:
    for coverage 1 - a it moves up by .02 (1 - a) after a miss and down by .02 a otherwise, so over
    T events the coverage is within 51 / T of 1 - a whatever the data, as long as no interval would
    have to be infinite; in its place the largest error of the window is taken.

    Levels .5, .8, .9, .95 and .99 adapt; those between are interpolated.

    References
    ----------
    [^1]: I. Gibbs, E. Candes. Adaptive conformal inference under distribution shift. NeurIPS 2021.

    """

    kept = ("ring", "ordered", "effective", "n")

    def __init__(self) -> None:
        self.ring = np.zeros(WINDOW)
        self.ordered = np.full(WINDOW, 1e300)
        self.effective = LEVELS.copy()
        self.n = 0

    def half_width(self, level: float) -> float:
        """Return half the width of an interval, in units of the target's scale; 1 at first."""
        if self.n == 0:
            return 1.0
        adapted = float(np.interp(level, [0.0, *LEVELS, 1.0], [0.0, *self.effective, 1.0]))
        return float(kernels.quantile(self.ordered, min(self.n, WINDOW), adapted))

    def learn(self, error: float) -> None:
        """Let |error|, in units of the target's scale, adapt the levels and join the window."""
        error = min(error, LARGEST_ERROR)
        kernels.remember_score(self.ring, self.ordered, self.effective, LEVELS, self.n, error)
        self.n += 1
