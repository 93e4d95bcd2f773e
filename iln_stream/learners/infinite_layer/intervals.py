"""Prediction intervals that hold their coverage, by adaptive conformal inference."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.kernels import conformal as kernels
from iln_stream.learners.infinite_layer.part import Part
from iln_stream.learners.infinite_layer.ridges import RidgeExpert, Ridges

WINDOW = 500
LEVELS = np.array([0.5, 0.8, 0.9, 0.95, 0.99])


class Intervals(Part):
    """Intervals around the prediction, from the last 500 scores |y - yhat| / spread(x).

    spread(x) is a linear ridge regression of |y - yhat| on the inputs, in units of the target's
    scale. Which quantile of the scores is taken adapts online [^1]: for coverage 1 - a it moves up
    by .02 (1 - a) after a miss and down by .02 a otherwise, so over T events the coverage is within
    51 / T of 1 - a whatever the data, as long as no interval would have to be infinite; in its
    place the largest score of the window is taken.

    Levels .5, .8, .9, .95 and .99 adapt; those between are interpolated.

    References
    ----------
    [^1]: I. Gibbs, E. Candes. Adaptive conformal inference under distribution shift. NeurIPS 2021.

    """

    kept = ("ring", "ordered", "effective", "n", "mean_error")

    def __init__(self, n_lags: int) -> None:
        self._spread = Ridges((RidgeExpert("spread", None, recent=True),), 0, n_lags)
        self.ring = np.zeros(WINDOW)
        self.ordered = np.full(WINDOW, 1e300)
        self.effective = LEVELS.copy()
        self.n = 0
        self.mean_error = 0.0
        self._p = np.zeros(1)

    def state(self) -> dict[str, Any]:
        """Return the state."""
        return super().state() | {"spread": self._spread.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that `state` returned."""
        super().restore(state)
        self._spread.restore(state["spread"])

    def widen(self, n_columns: int) -> None:
        """Make room for columns."""
        self._spread.widen(n_columns)

    def spread(self, v: NDArray[np.float64]) -> float:
        """Return the expected |error| at v (d,), in units of the target's scale; positive."""
        self._spread.predict(v, self._p)
        return max(float(self._p[0]), 0.2 * self.mean_error, 1e-12)

    def half_width(self, v: NDArray[np.float64], level: float) -> float:
        """Return half the width of the interval at v, in units of the target's scale."""
        if self.n == 0:
            return 1.0
        score = score_at(level, self.ordered, self.effective, min(self.n, WINDOW))
        return score * self.spread(v)

    def learn(self, v: NDArray[np.float64], error: float) -> None:
        """Let |error| at v, in units of the target's scale, join the scores."""
        score = min(error / self.spread(v), 1e6)
        kernels.remember_score(self.ring, self.ordered, self.effective, LEVELS, self.n, score)
        self._spread.learn(min(error, 2.0), self._p)
        self.n += 1
        self.mean_error += (min(error, 2.0) - self.mean_error) / min(self.n, 1000)


def score_at(
    level: float, ordered: NDArray[np.float64], effective: NDArray[np.float64], n: int
) -> float:
    """Return the score that covers at `level`, levels between the adapted ones interpolated."""
    adapted = float(np.interp(level, [0.0, *LEVELS, 1.0], [0.0, *effective, 1.0]))
    return float(kernels.quantile(ordered, n, adapted))
