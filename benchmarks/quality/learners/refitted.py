"""Batch models with periodic refits.

What they keep is as it was scaled when it came. On streams that drift this was better than to keep
it raw and to scale it anew (chick-weights: 0.41 against 0.74), elsewhere a little worse.
"""

from collections.abc import Callable
from typing import Any

from river import base

from benchmarks.quality.learners.history import History

REFITS = (32, 64, 128, 256)
"""Earlier refits, for short streams."""
REFIT_EVERY = 500


def often(n: int) -> bool:
    """Return whether to refit after n events: every 500 events, and earlier for short streams."""
    return n in REFITS or n % REFIT_EVERY == 0


class Refitted(base.Regressor):
    """A batch model, refitted now and then on all events.

    Parameters
    ----------
    make
        From the number of inputs to a new model.
    refits_at
        Whether to refit after so many events.

    """

    def __init__(self, make: Callable[[int], Any], refits_at: Callable[[int], bool] = often):
        self.make = make
        self.refits_at = refits_at
        self._history = History()
        self._model: Any = None

    def learn_one(self, x: dict[str, float], y: float) -> None:
        self._history.append(x, y)
        if self.refits_at(self._history.n):
            rows = self._history.rows
            self._model = self.make(len(x)).fit(rows[:, :-1], rows[:, -1])

    def predict_one(self, x: dict[str, float]) -> float:
        if self._model is None:
            return 0.0  # behind the scaling: the mean
        return float(self._model.predict([list(x.values())])[0])
