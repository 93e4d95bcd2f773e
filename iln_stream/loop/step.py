"""One step of the loop, and the protocols of those who take part in it."""

from collections.abc import Mapping, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from iln_stream.records import Command, DeadLetter, Decoder
from iln_stream.streams import Record, StreamPartition


class EventWeights:
    """The weight of an event: its own times that of its class.

    A learner gets it as `w` of `learn_one`, as River's learners name it.

    Parameters
    ----------
    of_class
        Weights by class, written as text (`true`, `3`, `cat`); 1 for other classes.

    Examples
    --------
    >>> from iln_stream.loop import EventWeights
    >>> weigh = EventWeights({"true": 20.0})
    >>> weigh(True, None), weigh(True, 0.5), weigh(False, None)
    (20.0, 10.0, 1.0)

    """

    def __init__(self, of_class: Mapping[str, float] | None = None) -> None:
        self.of_class = dict(of_class or {})

    def __call__(self, y: Any, weight: float | None) -> float:
        """Return the weight of an event with this label; None: it has none of its own."""
        own = 1.0 if weight is None else weight
        return own * self.of_class.get(_text(y), 1.0) if self.of_class else own

    def keywords(self, y: Any, weight: float | None) -> dict[str, float]:
        """Return the arguments that pass the weight to `learn_one`; none where nothing sets it."""
        if weight is None and not self.of_class:
            return {}
        return {"w": self(y, weight)}


def _text(y: Any) -> str:
    return str(y).lower() if isinstance(y, bool) else str(y)


Token: TypeAlias = NDArray[np.float64]
"""Numbers (k,), which the loop keeps with the event until its label comes."""


@runtime_checkable
class LearnsLate(Protocol):
    """A learner that can learn a label with what it computed at the time of the prediction.

    Others learn the event's inputs and label when the label comes, as if the event came then.
    """

    def predict_token(self, x: Mapping[Any, float]) -> tuple[Any, Token]:
        """Return the prediction for x, and a token from which its label can be learned."""

    def learn_token(self, x: Mapping[Any, float], token: Token, y: Any) -> None:
        """Learn that y is the label of x, which was predicted with this token."""


@runtime_checkable
class LearnsInARow(Protocol):
    """A learner of numbers that takes many events in one call in less time than one by one."""

    @property
    def learns_in_a_row(self) -> bool:
        """Whether that holds at present."""

    def learn_in_a_row(
        self, xs: Sequence[Mapping[Any, float]], y: Sequence[float]
    ) -> tuple[list[float], list[float]]:
        """Predict and learn the first of these events, each before the next.

        Returns the predictions and what `report` would return as losses, without flags, for as
        many events as it could take, which may be none. An error ends the run.
        """


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
    quantiles
        Those of each level, in y's units.
    challengers
        Predictions of the other contenders by name; None: they are not asked for.

    """

    intervals: tuple[tuple[float, float], ...] = ()
    explanation: tuple[float, Mapping[Any, float]] | None = None
    contender: str | None = None
    quantiles: tuple[float, ...] = ()
    challengers: Mapping[str, Prediction] | None = None


NO_DETAILS = Details()


class Step(NamedTuple):
    """One prequential step: an event was predicted, or its label was learned, or both.

    A tuple, because the loop makes one for each event: a frozen dataclass takes 4 times as long.

    Parameters
    ----------
    origin, offset
        Where the record is.
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
        Time spent predicting and learning; of events learned in a row, their mean.
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
    weight
        How much the event counts, in learning and in scores.
    series
        Names the series of the event, if the stream has several.

    """

    origin: StreamPartition
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
    weight: float = 1.0
    series: tuple[str, ...] = ()


MOST_IN_A_ROW = 128
"""Events that are learned before listeners hear of them: less than a millisecond of them."""


class Listener:
    """Observes the loop: override the methods that you need.

    A listener must not change the learner or the order of events. If it can't do its work (a full
    disk, a lost broker), it raises an error, which stops the loop before the next record.

    Attributes
    ----------
    most_steps : int
        How many steps may be made before this listener hears of them, by default 1: in `on_step` it
        sees the learner as it is after that step. With `MOST_IN_A_ROW`, for listeners that don't
        look at the learner, the loop is faster.

    """

    most_steps: int = 1

    def on_steps(self, steps: Sequence[Step]) -> None:
        """Handle `Steps` that were made in a row; unless overridden, each by `on_step`."""
        # Where nobody listens to single steps, none is made.
        if getattr(self.on_step, "__func__", None) is not Listener.on_step:
            for step in steps:
                self.on_step(step)

    def on_step(self, step: Step) -> None:
        """Handle an event that was predicted, learned, or both."""

    def on_dead_letter(self, letter: DeadLetter) -> None:
        """Handle a record that could not be decoded, predicted or learned."""

    def on_repeat(self, origin: StreamPartition, offset: int) -> None:
        """Handle a record that was skipped because it repeats an earlier one."""

    def on_skipped(self, origin: StreamPartition, offset: int) -> None:
        """Handle a record that is no event; unless overridden, as a repeat."""
        self.on_repeat(origin, offset)

    def on_forgotten(self, origin: StreamPartition, offset: int) -> None:
        """Handle a record that is passed over, as it is forgotten; unless overridden, a repeat."""
        self.on_repeat(origin, offset)

    def on_command(self, command: Command) -> None:
        """Handle a command that the learner has carried out, such as a promotion."""

    def on_idle(self) -> None:
        """Handle a poll that returned nothing; all records so far have been processed."""

    def close(self) -> None:
        """Release resources: the loop has ended, normally or with an error."""


AnyDecoder = TypeVar("AnyDecoder", bound=Decoder)


class LabelLog(NamedTuple, Generic[AnyDecoder]):
    """How the loop reads labels from a log of their own."""

    stream: str  # name of the log, for dead letters
    decode: AnyDecoder  # makes labels of its records: examples without x


@runtime_checkable
class Promotable(Protocol):
    """Several contenders, one of which is the champion, whose predictions are published."""

    def promote(self, name: str) -> None:
        """Make a contender the champion, from the next event on.

        Raises
        ------
        ValueError
            When there is no contender of this name; the message names them.

        """


class Checkpointing(Protocol):
    """Makes the loop's progress durable."""

    @property
    def n_until_due(self) -> int:
        """Number of records until progress is to be saved."""

    def passed(self, records: Sequence[Record]) -> None:
        """Note that records were processed and that the outputs have their results."""

    def idle(self) -> None:
        """Save what is due; the loop has nothing else to do."""
