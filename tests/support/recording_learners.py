"""Learners that record what they are given."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Recording:
    """Predicts the number of learned events, and records them."""

    def __init__(self) -> None:
        self.learned: list[Any] = []

    def predict_one(self, x: dict[str, float]) -> float:
        return float(len(self.learned))

    def learn_one(self, x: dict[str, float], y: Any) -> None:
        self.learned.append((x, y))


class RecordingLate(Recording):
    """A learner with tokens: the number of events learned by then."""

    def predict_token(self, x: dict[str, float]) -> tuple[float, NDArray[np.float64]]:
        return self.predict_one(x), np.array([float(len(self.learned))])

    def learn_token(self, x: dict[str, float], token: NDArray[np.float64], y: Any) -> None:
        self.learned.append((x, y, token.tolist()))
