"""What requests and answers hold, decoded as strictly as records of a stream."""

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, FailFast, Field, ValidationError
from pydantic.config import JsonDict

from iln_stream.records import ClassEvent, ClassLabel, Event, Label, MalformedError
from iln_stream.records.decoding import error_details, reason, require_distinct_keys
from iln_stream.records.messages import Inputs, Moment, Text, Weight
from iln_stream.records.parsing import n_keys
from iln_stream.serving.gate import HttpError

_READ = ConfigDict(frozen=True, extra="forbid")

ModelName = Annotated[str, Field(strict=True, description="Name of a published model.")]

_NEEDED = "Name of the model; needed if several are published."

_ONLY_WITH_ID: JsonDict = {
    "anyOf": [
        {"required": ["id"], "properties": {"id": {"type": "string"}}},
        {"properties": {"timestamp": {"type": "null"}, "weight": {"type": "null"}}},
    ]
}
"""As JSON Schema: an event without an id has neither time nor weight. Only a model with aggregates
takes a time without an id."""


class EventToPredict(BaseModel):
    """The inputs of an event; one with an id is recorded in the log, too."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra=_ONLY_WITH_ID)

    x: Inputs = Field(description=Event.model_fields["x"].description)
    id: Text | None = Field(
        default=None,
        description="The sender's id of this event, which is appended to the log under it, for its "
        "label to come. Null or absent: the event is only predicted.",
    )
    timestamp: Moment | None = Field(
        default=None,
        description=f"{Event.model_fields['timestamp'].description} Without an id, only for a "
        "model with aggregates, whose windows end then; null or absent: now.",
    )
    weight: Weight | None = Field(
        default=None, description=f"{Event.model_fields['weight'].description} Only with an id."
    )


class PredictOne(EventToPredict):
    """An event to predict."""

    model: ModelName | None = Field(default=None, description=_NEEDED)


class PredictBatch(BaseModel):
    """Events to predict."""

    model_config = _READ

    events: Annotated[list[EventToPredict], FailFast()] = Field(min_length=1)
    model: ModelName | None = Field(default=None, description=_NEEDED)


Written = Annotated[Moment, Field(description="When it was written; null or absent: now.")]


class PredictRecord(BaseModel):
    """A record to predict, as the run reads it."""

    model_config = _READ

    record: dict[str, Any] = Field(
        description="The record's fields, of which the run's settings of fields make inputs; its "
        "label is not needed."
    )
    timestamp: Written | None = None
    model: ModelName | None = None


class PredictRecords(BaseModel):
    """Records to predict."""

    model_config = _READ

    records: list[dict[str, Any]] = Field(min_length=1, description="As of one record.")
    timestamp: Written | None = None
    model: ModelName | None = None


class EventBatch(BaseModel):
    """Events to append."""

    model_config = _READ

    events: Annotated[list[Event], FailFast()] = Field(min_length=1)


class ClassEventBatch(EventBatch):
    """Events to append, whose labels are classes."""

    events: Annotated[list[ClassEvent], FailFast()] = Field(min_length=1)  # type: ignore[assignment]


class LabelBatch(BaseModel):
    """Labels to append."""

    model_config = _READ

    labels: Annotated[list[Label], FailFast()] = Field(min_length=1)


class ClassLabelBatch(LabelBatch):
    """Labels to append that are classes."""

    labels: Annotated[list[ClassLabel], FailFast()] = Field(min_length=1)  # type: ignore[assignment]


class Promotion(BaseModel):
    """A contender that is to become the champion."""

    model_config = _READ

    contender: Text = Field(
        min_length=1, description="Name of a challenger, or of the former champion."
    )
    model: ModelName | None = Field(
        default=None, description="Name of the model. Null or absent: all models of the log."
    )


EVENTS: dict[str | None, tuple[type[Event], type[EventBatch]]] = {
    "regression": (Event, EventBatch),
    "classification": (ClassEvent, ClassEventBatch),
    None: (ClassEvent, ClassEventBatch),
}
"""Models of an event and of several, by the learner's task; None: not known."""

LABELS: dict[str | None, tuple[type[Label], type[LabelBatch]]] = {
    "regression": (Label, LabelBatch),
    "classification": (ClassLabel, ClassLabelBatch),
    None: (ClassLabel, ClassLabelBatch),
}
"""Models of a label and of several, by the learner's task."""


class Interval(BaseModel):
    """Where the label lies with probability `level`."""

    lower: float
    upper: float
    level: float


class Place(BaseModel):
    """Where an event or a label is in the log."""

    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    is_new: bool = Field(
        description="False: the log already had an event with this id, or this label."
    )


class PredictionAnswer(BaseModel):
    """A prediction of a number, or of a class."""

    y_pred: float | bool | str | None = Field(
        description="The number, or the most probable class; null before any class is known."
    )
    interval: Interval | None = Field(
        default=None, description="Only for numbers, and if the learner has intervals."
    )
    quantiles: dict[str, float] | None = Field(
        default=None, description="By level, if the run has `prediction_quantiles`."
    )
    probabilities: dict[str, float] | None = Field(
        default=None, description="Probabilities of the classes; only for classes."
    )
    appended: Place | None = Field(
        default=None, description="Where the event is in the log; only if it has an id."
    )
    unknown_inputs: list[str] | None = Field(
        default=None,
        description="Inputs that the learner has not learned and ignores, as misspelt ones; at "
        "most 20.",
    )


class ModelVersion(BaseModel):
    """The version that predicted."""

    name: str
    version: int = Field(ge=1, description="Grows with each version, also over restarts.")
    pinned: bool = Field(
        default=False, description="Whether it is pinned, and newer versions do not predict."
    )
    age_seconds: float = Field(ge=0, description="Time since it was published.")
    n_learned: int = Field(ge=0, description="Number of events that it had learned.")
    keys_age_seconds: float | None = Field(
        default=None,
        ge=0,
        description="Time since what is known of keys was stored; only with models or "
        "aggregates by key.",
    )


class PredictAnswer(BaseModel):
    """Predictions, in the order of the request."""

    predictions: list[PredictionAnswer]
    model: ModelVersion


class AppendAnswer(BaseModel):
    """Places of the events or labels, in the order of the request."""

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
    degraded: list[str] = Field(
        description="Models that predict with a former version, as the newest can't be loaded."
    )


class LiveAnswer(BaseModel):
    """The process answers."""

    live: bool


class ErrorAnswer(BaseModel):
    """An error."""

    error: str = Field(description="What is wrong, and the remedy.")


_LONGEST_EXAMPLE = 100

One = TypeVar("One", bound=BaseModel)
Batch = TypeVar("Batch", bound=BaseModel)


def decoded(body: bytes, model: type[One]) -> One:
    """Return the message in a body.

    Raises
    ------
    HttpError
        400 if the body is not JSON, or has a key twice in an object; 422 if it is another message.

    """
    try:
        found = model.model_validate_json(body)
    except ValidationError as error:
        raise _refused(_details(error)) from None
    _require_distinct_keys(body, found)
    return found


def decoded_batch(
    body: bytes,
    one: type[One],
    batch: type[Batch],
    most: int,
    field: str = "events",
    others: Mapping[str, type[BaseModel]] = MappingProxyType({}),
) -> One | Batch:
    """Return the message in a body or, if the body has the field of a batch, the batch.

    Parameters
    ----------
    body
        JSON text.
    one, batch
        Models of a message and of a batch.
    most
        Most items in a batch.
    field
        The batch's field with the items.
    others
        Models of further messages, by the field that only they have.

    Raises
    ------
    HttpError
        400 if the body is not JSON, or has a key twice in an object; 413 if the batch is too long,
        before its items are checked; else 422 if it is neither message nor batch.

    """
    found: One | Batch
    try:
        found = one.model_validate_json(body)
    except ValidationError as error:
        details = _details(error)
        models: dict[str, type[Any]] = {field: batch, **others}
        named = [(each["loc"][0], each["input"]) for each in details if len(each["loc"]) == 1]
        batches = [(name, items) for name, items in named if name in models]
        if not batches:
            raise _refused(details) from None
        for name, items in batches:
            _check_length(items, most, name)
        try:
            found = models[batches[0][0]].model_validate_json(body)
        except ValidationError as wrong:
            raise _refused(_details(wrong)) from None
    _require_distinct_keys(body, found)
    return found


def _details(error: ValidationError) -> Sequence[Mapping[str, Any]]:
    try:
        return error_details(error, root="body")
    except MalformedError as too_many:
        raise HttpError(422, "malformed", str(too_many)) from None


def _refused(details: Sequence[Mapping[str, Any]]) -> HttpError:
    status = 400 if details[0]["type"] == "json_invalid" else 422
    return HttpError(status, "malformed", reason(details, root="body") + _remedy(details))


def _remedy(details: Sequence[Mapping[str, Any]]) -> str:
    """Return where to put inputs that are not under x; empty if x was sent."""
    if not any(each["type"] == "missing" and each["loc"][-1] == "x" for each in details):
        return ""
    inputs = {
        str(each["loc"][-1]): each["input"]
        for each in details
        if each["type"] == "extra_forbidden" and isinstance(each["input"], str | int | float)
    }
    example = json.dumps({"x": inputs})
    if not inputs or len(example) > _LONGEST_EXAMPLE:
        example = '{"x": {"temperature": 21.5}}'
    return f'; put the inputs under "x": {example}'


def _check_length(items: object, most: int, field: str) -> None:
    if isinstance(items, list) and len(items) > most:
        raise HttpError(
            413,
            "batch size",
            f"{field}: {len(items):,} in a request, and at most {most:,} are allowed; send "
            "several requests",
        )


def _require_distinct_keys(body: bytes, message: BaseModel) -> None:
    try:
        require_distinct_keys(body, _n_keys(message))
    except MalformedError as error:
        raise HttpError(400, "malformed", str(error)) from None


def _n_keys(message: BaseModel) -> int:
    """Return the number of keys in the JSON of a message."""
    n = len(message.model_fields_set)
    if isinstance(message, Event | EventToPredict):
        n += len(message.x)
    elif isinstance(message, EventBatch | PredictBatch):
        n += sum(map(_n_keys, message.events))
    elif isinstance(message, PredictRecord):
        n += n_keys(message.record)
    elif isinstance(message, PredictRecords):
        n += n_keys(message.records)
    elif isinstance(message, LabelBatch):
        n += sum(map(_n_keys, message.labels))
    return n
