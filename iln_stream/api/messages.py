"""What requests and answers hold."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, FailFast, Field

from iln_stream.events import ClassEvent, ClassLabel, Event, Inputs, Label

_READ = ConfigDict(frozen=True, extra="forbid")

ModelName = Annotated[str, Field(strict=True, description="Name of a published model.")]


class EventToPredict(BaseModel):
    """The inputs of an event."""

    model_config = _READ

    x: Inputs = Field(description=Event.model_fields["x"].description)


class PredictOne(EventToPredict):
    """An event to predict."""

    model: ModelName | None = Field(
        default=None, description="Name of the model; needed if several are published."
    )


class PredictBatch(BaseModel):
    """Events to predict."""

    model_config = _READ

    events: Annotated[list[EventToPredict], FailFast()] = Field(min_length=1)
    model: ModelName | None = Field(
        default=None, description="Name of the model; needed if several are published."
    )


class EventBatch(BaseModel):
    """Events to append."""

    model_config = _READ

    events: Annotated[list[Event], FailFast()] = Field(min_length=1)


class ClassEventBatch(EventBatch):
    """Events to append, whose labels are classes."""

    events: Annotated[list[ClassEvent], FailFast()] = Field(min_length=1)  # type: ignore[assignment]


EVENTS: dict[str | None, tuple[type[Event], type[EventBatch], type[Label]]] = {
    "regression": (Event, EventBatch, Label),
    "classification": (ClassEvent, ClassEventBatch, ClassLabel),
    None: (ClassEvent, ClassEventBatch, ClassLabel),
}
"""Models of an event, several events and a label, by the learner's task; None: not known."""


class Interval(BaseModel):
    """Where the label lies with probability `level`."""

    lower: float
    upper: float
    level: float


class PredictionAnswer(BaseModel):
    """A prediction of a number, or of a class."""

    y_pred: float | bool | str | None = Field(
        description="The number, or the most probable class; null before any class is known."
    )
    interval: Interval | None = Field(
        default=None, description="Only for numbers, and if the learner has intervals."
    )
    probabilities: dict[str, float] | None = Field(
        default=None, description="Probabilities of the classes; only for classes."
    )


class ModelVersion(BaseModel):
    """The version that predicted."""

    name: str
    version: int = Field(ge=1, description="Grows with each version, also over restarts.")
    age_seconds: float = Field(ge=0, description="Time since it was published.")
    n_learned: int = Field(ge=0, description="Number of events that it had learned.")


class PredictAnswer(BaseModel):
    """Predictions, in the order of the request."""

    predictions: list[PredictionAnswer]
    model: ModelVersion


class Place(BaseModel):
    """Where an event is in the log."""

    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    is_new: bool = Field(description="False: the log already had an event with this id.")


class AppendAnswer(BaseModel):
    """Places of the events, in the order of the request."""

    appended: list[Place]


class ModelAnswer(ModelVersion):
    """What is known of a model."""

    learner: str
    task: str
    positions: dict[str, int] = Field(
        description="By partition of the log, the offset after the last learned record."
    )
    published_at: float = Field(description="POSIX seconds.")
    inputs: list[str] | None = Field(description="Names of the learned inputs, if known.")


class ReadyAnswer(BaseModel):
    """Whether requests are carried out."""

    ready: bool
    reasons: list[str] = Field(description="Why not; empty if ready.")


class LiveAnswer(BaseModel):
    """The process answers."""

    live: bool


class ErrorAnswer(BaseModel):
    """An error."""

    error: str = Field(description="What is wrong, and the remedy.")
