"""Losses in [0, 1], by which contenders are compared."""

from collections.abc import Mapping
from typing import Any

from iln_stream.state import StateDict

LIMIT = 4.0
"""Errors of this many typical ones have the loss 1: 3.2 standard deviations of normal errors."""

MEMORY = 1000
"""The typical error is that of about so many events."""


class BoundedError:
    """The loss of a regression's error: |error| over four times the typical one, at most 1.

    The typical error is the mean of past |errors| of the champion, each at most four times the mean
    so far. It is the same for all contenders, and an event does not change its own losses. Errors
    of 0 leave it as it is: where most labels are predicted exactly, the loss stays graded.

    Examples
    --------
    >>> from iln_stream.contest import BoundedError
    >>> loss = BoundedError()
    >>> for error in [1.0, -3.0, 2.0, 1e9]:
    ...     loss.learn(error)
    >>> loss.typical_error
    3.5
    >>> loss(-7.0), loss(100.0)
    (0.5, 1.0)

    """

    def __init__(self) -> None:
        self.typical_error = 0.0
        """In units of the label; 0 before the first error that is not 0."""
        self._n = 0

    def __call__(self, error: float) -> float:
        """Return the loss of a finite error, in [0, 1].

        While nothing is known of errors, it is 0 or 1.
        """
        if error == 0.0:
            return 0.0
        typical = self.typical_error
        return min(abs(error) / LIMIT / typical, 1.0) if typical > 0.0 else 1.0

    def learn(self, error: float) -> None:
        """Learn the champion's error, after all contenders' losses of the event are known."""
        if error == 0.0:
            return
        error = abs(error)
        if not self._n:
            self.typical_error = error
        self._n = min(self._n + 1, MEMORY)
        typical = self.typical_error
        self.typical_error += (min(error, LIMIT * typical) - typical) / self._n

    def state(self) -> StateDict:
        """Return the typical error and the number of errors that it has, at most 1,000."""
        return {"n": self._n, "typical_error": self.typical_error}

    def restore(self, state: StateDict) -> None:
        """Resume from a `state()`."""
        self._n, self.typical_error = state["n"], state["typical_error"]


def brier_loss(probabilities: Mapping[Any, float], y: Any) -> float:
    """Return half the Brier score of predicted probabilities, in [0, 1]; 1/2 if there are none.

    >>> brier_loss({"a": 0.75, "b": 0.25}, "a")
    0.0625
    >>> brier_loss({"a": 1.0}, "b")
    1.0
    """
    total = 1.0 - 2.0 * probabilities.get(y, 0.0)
    for probability in probabilities.values():
        total += probability * probability
    return min(0.5 * total, 1.0)
