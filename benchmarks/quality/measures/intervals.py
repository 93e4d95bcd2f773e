"""Prediction intervals, compared with a rolling quantile of residuals."""

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

from benchmarks.quality.measures.clock import Clock
from benchmarks.quality.measures.regression import ExplodedError, finite
from benchmarks.quality.streams import Event

LEVEL = 0.9
WINDOW = 500
SCORED_FROM = 101
"""First event whose intervals are scored: earlier, a quantile of residuals is unreliable."""


def interval_score(low: float, high: float, y: float, level: float = LEVEL) -> float:
    """Width, and 2 / (1 - level) for each unit by which y is missed (Gneiting & Raftery 2007).

    Examples
    --------
    >>> interval_score(0.0, 2.0, 1.0), round(interval_score(0.0, 2.0, 2.5), 6)
    (2.0, 12.0)

    """
    return high - low + 2 / (1 - level) * max(low - y, y - high, 0.0)


class RollingQuantile:
    """Half-width: the conformal quantile of the last 500 absolute residuals."""

    def __init__(self, level: float = LEVEL, window: int = WINDOW) -> None:
        self.level = level
        self._residuals: deque[float] = deque(maxlen=window)

    def half_width(self) -> float:
        """The split-conformal quantile, ceil(level (n + 1)) of n."""
        n = len(self._residuals)
        rank = min(math.ceil(self.level * (n + 1)), n)
        return sorted(self._residuals)[rank - 1] if n else 0.0

    def update(self, residual: float) -> None:
        """Add the newest residual."""
        self._residuals.append(abs(residual))


def intervals(model: Any, events: Sequence[Event]) -> dict[str, float]:
    """Return coverage and mean interval score, ours and the rolling quantile's."""
    x, y = events[0]
    model.learn_one(x, y)
    rolling, clock = RollingQuantile(), Clock()
    covered, score, rolling_covered, rolling_score = 0, 0.0, 0, 0.0
    for t, (x, y) in enumerate(events[1:], start=2):
        with clock:
            prediction = model.predict_one(x)
            low, high = model.predict_interval(x, LEVEL)
            model.learn_one(x, y)
        if finite(low, t) > finite(high, t):
            raise ExplodedError(f"interval [{low}, {high}] at event {t}")
        if t >= SCORED_FROM:
            half = rolling.half_width()
            covered += low <= y <= high
            rolling_covered += abs(prediction - y) <= half
            score += interval_score(low, high, y)
            rolling_score += interval_score(prediction - half, prediction + half, y)
        rolling.update(finite(prediction, t) - y)
    n = len(events) - SCORED_FROM + 1
    return {
        "coverage": round(covered / n, 5),
        "rolling_coverage": round(rolling_covered / n, 5),
        "score": float(f"{score / n:.5g}"),
        "rolling_score": float(f"{rolling_score / n:.5g}"),
        "n_scored": n,
        **clock.figures(),
    }
