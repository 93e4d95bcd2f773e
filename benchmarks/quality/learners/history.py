"""What a learner that keeps all events keeps."""

import numpy as np


class History:
    """All events so far, as rows of inputs and target in a growing array."""

    def __init__(self) -> None:
        self.n = 0
        self._rows = np.empty((0, 0))

    def append(self, x: dict[str, float], y: float) -> None:
        row = np.array([*x.values(), y], float)
        if self.n == len(self._rows):
            longer = np.empty((max(64, 2 * self.n), len(row)))
            if self.n:
                longer[: self.n] = self._rows
            self._rows = longer
        self._rows[self.n] = row
        self.n += 1

    @property
    def rows(self) -> np.ndarray:
        return self._rows[: self.n]
