"""What happened to one event: the only thing that listeners see of the loop."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

Prediction: TypeAlias = float | Mapping[Any, float]
"""A number, or the probability of each class."""


class Step(NamedTuple):
    """One prequential step: an event that was predicted, or a label that was learned, or both.

    Parameters
    ----------
    partition, offset
        Position of the record in its stream.
    event_id
        The sender's name for the event, if any.
    time
        When the event happened, as its sender says, else when the record was written: POSIX
        seconds. None where nobody says.
    x
        The inputs, as the learner was given them.
    y
        The label in its own units; None: the event was predicted only.
    y_pred
        The prediction as it was published, made before y was looked at; in y's units.
    loss
        Of a labelled event: on the learner's own scale where it reports one, else the task's.
    flags
        What the learner reported to have happened at this event; see `iln_stream.reporting`.
    late
        Whether the label came in a record of its own, after the prediction had been published.
    seconds
        Time spent predicting and learning.
    ended
        When that was done, by `time.perf_counter`.

    """

    partition: int
    offset: int
    event_id: str | None
    time: float | None
    x: Mapping[Any, float]
    y: Any
    y_pred: Any
    loss: float | None
    flags: tuple[str, ...] = ()
    late: bool = False
    seconds: float = 0.0
    ended: float = 0.0
