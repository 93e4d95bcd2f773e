"""The result of one event, as listeners get it."""

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

Prediction: TypeAlias = float | Mapping[Any, float]
"""A number, or the probability of each class."""


class Details(NamedTuple):
    """What a prediction has beside its value, if the loop is to compute it.

    Parameters
    ----------
    intervals
        Lower and upper bound for each level, in y's units.
    explanation
        The baseline, and what inputs contribute to the prediction's difference from it, by name.
    contender
        Name of the contender that predicted; None: there is one learner, or the label came late.

    """

    intervals: tuple[tuple[float, float], ...] = ()
    explanation: tuple[float, Mapping[Any, float]] | None = None
    contender: str | None = None


NO_DETAILS = Details()


class Step(NamedTuple):
    """One prequential step: an event was predicted, or its label was learned, or both.

    A tuple, because the loop makes one for each event: a frozen dataclass takes 4 times as long.

    Parameters
    ----------
    partition, offset
        Position of the record in its stream. In a second log, of labels, the partition is negative
        (see `streams.label_partition`).
    event_id
        The sender's id of the event, if any.
    time
        When the event happened, according to its sender, or else when the record was written: POSIX
        seconds. None if unknown.
    x
        The inputs that the learner got.
    y
        The label in its own units. None: the event was only predicted.
    y_pred
        The prediction that was published, in y's units; it was made without knowing y.
    loss
        Of a labelled event: the learner's own loss, on its own scale, or else the task's.
    flags
        Flags that the learner reported for this event; see `iln_stream.reporting`.
    late
        Whether the label came in a record of its own, after the prediction had been published.
    seconds
        Time spent predicting and learning.
    ended
        `time.perf_counter` at the end of that.
    key
        The record's key, if any.
    details
        What the prediction has beside its value.
    delay
        Of a late label: seconds from the event's time to the label's; None: unknown.
    baselines
        Of a late label: what trivial predictors predicted when the event came.

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
    key: str | None = None
    details: Details = NO_DETAILS
    delay: float | None = None
    baselines: tuple[float, ...] = ()
