"""A predicted event that has no label yet."""

from typing import NamedTuple

from iln_stream.prequential.late.tokens import Token
from iln_stream.prequential.step import Prediction


class Pending(NamedTuple):
    """What is known of an event that waits for its label.

    Parameters
    ----------
    x
        Its inputs.
    y_pred
        The prediction that was published.
    time
        When it happened, in POSIX seconds; None: unknown.
    partition, offset
        Position of its record.
    token
        What the learner computed then; None: the learner makes no tokens.
    weight
        How much it counts when it is learned; None: not given.
    intervals
        Lower and upper bounds that were published.
    baselines
        What trivial predictors predicted then.

    """

    x: dict[str, float]
    y_pred: Prediction
    time: float | None
    partition: int
    offset: int
    token: Token | None = None
    weight: float | None = None
    intervals: tuple[tuple[float, float], ...] = ()
    baselines: tuple[float, ...] = ()
