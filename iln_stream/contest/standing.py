"""How a contender is doing."""

from typing import Literal, NamedTuple

Status = Literal["champion", "challenger", "out"]


class Standing(NamedTuple):
    """How a contender is doing, at one moment.

    Errors are absolute errors in y's units of a regressor, and misclassifications (0 or 1) of a
    classifier; losses are half the squared error and the log loss. All means are nan before the
    first scored event.

    Parameters
    ----------
    name
        Its name in the contest.
    learner
        Class of its learner.
    status
        "champion", "challenger", or "out": failed too often in a row, and waits for a promotion.
    n_scored
        Events on which its prediction was scored.
    running_error, windowed_error
        Mean error of all these, and of the last ones in the window.
    running_loss, windowed_loss
        Mean loss of the same.
    lower, upper
        Bounds of the mean of the champion's bounded loss minus its own, since the last promotion:
        above 0 it is better. None for the champion.
    n_failures
        Events on which it could not predict or learn.
    last_failure
        Reason of the last one; None: it never failed.

    """

    name: str
    learner: str
    status: Status
    n_scored: int
    running_error: float
    windowed_error: float
    running_loss: float
    windowed_loss: float
    lower: float | None
    upper: float | None
    n_failures: int
    last_failure: str | None

    @property
    def is_champion(self) -> bool:
        """Whether the contest predicts by it."""
        return self.status == "champion"
