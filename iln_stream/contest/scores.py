"""Errors and losses of one contender."""

from collections import deque

import numpy as np

from iln_stream.state import StateDict


class ContenderScores:
    """Sums over all events, and the last `window` values.

    Parameters
    ----------
    window
        Scored events in the windowed means.

    """

    __slots__ = ("errors", "losses", "n", "total_error", "total_loss")

    def __init__(self, window: int) -> None:
        self.n = 0
        self.total_error = self.total_loss = 0.0
        self.errors: deque[float] = deque(maxlen=window)
        self.losses: deque[float] = deque(maxlen=window)

    def add(self, error: float, loss: float) -> None:
        """Score one event."""
        self.n += 1
        self.total_error += error
        self.total_loss += loss
        self.errors.append(error)
        self.losses.append(loss)

    @property
    def running_error(self) -> float:
        """Mean error of all scored events; nan before the first."""
        return self.total_error / self.n if self.n else float("nan")

    @property
    def running_loss(self) -> float:
        """Mean loss of all scored events; nan before the first."""
        return self.total_loss / self.n if self.n else float("nan")

    @property
    def windowed_error(self) -> float:
        """Mean error in the window; nan if it is empty."""
        return _mean(self.errors)

    @property
    def windowed_loss(self) -> float:
        """Mean loss in the window; nan if it is empty."""
        return _mean(self.losses)

    def state(self) -> StateDict:
        """Return sums and window."""
        return {
            "n": self.n,
            "total_error": self.total_error,
            "total_loss": self.total_loss,
            "errors": np.array(self.errors, np.float64),
            "losses": np.array(self.losses, np.float64),
        }

    def restore(self, state: StateDict) -> None:
        """Go on from a state; its window may be longer or shorter."""
        self.n = state["n"]
        self.total_error, self.total_loss = state["total_error"], state["total_loss"]
        self.errors = deque(state["errors"].tolist(), self.errors.maxlen)
        self.losses = deque(state["losses"].tolist(), self.losses.maxlen)


def _mean(values: deque[float]) -> float:
    return sum(values) / len(values) if values else float("nan")
