"""What happened to one event: the only thing that listeners see of the loop."""

from typing import NamedTuple


class Step(NamedTuple):
    """One prequential step: predicted, scored and learned, in this order.

    Parameters
    ----------
    offset
        The event's place in its stream.
    event_id
        The sender's name for the event, if any.
    y
        The label in its own units; None: the event was predicted only.
    y_pred
        The prediction made before y was looked at, in y's units.
    loss
        Of a labelled event: (E_t - y_t)^2 / 2 on the learner's own target scale where the learner
        tells it (Algorithm 1's loss), else (y_pred - y)^2 / 2 in y's units.
    shrunk
        Whether Algorithm 1 took its shrinking branch on this event.
    seconds
        Time spent predicting and learning.
    ended
        When that was done, by `time.perf_counter`.

    """

    offset: int
    event_id: str | None
    y: float | None
    y_pred: float
    loss: float | None
    shrunk: bool
    seconds: float
    ended: float
