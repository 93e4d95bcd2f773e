"""The messages of a stream: events, labels, predictions and dead letters."""

import hashlib
import re
from typing import Annotated, Any, Literal

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    WithJsonSchema,
)

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
"""A finite double. Strings such as "1.5" and booleans are not numbers."""

Weight = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0.0)]
"""How much an event counts when it is learned: a finite number, not negative."""

Boolean = Annotated[bool, Field(strict=True)]
Text = Annotated[str, Field(strict=True)]

Inputs = dict[str, Number | Boolean | Text | None]
"""Inputs of an event by name, before they are encoded as numbers."""

Moment = Annotated[
    AwareDatetime,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "format": "date-time"},
                {
                    "type": "number",
                    "minimum": -62_135_596_800_000,
                    "exclusiveMaximum": 253_402_300_800_000,
                },
            ]
        }
    ),
]
"""A time of the years 1 to 9999: a string with a UTC offset, or a number."""


class Event(BaseModel):
    """The inputs x_t and, if it is known, the label y_t."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    x: Inputs = Field(
        description="Inputs by name. A string is one-hot encoded. A null is the same as an absent "
        "input: the default learner takes 0 if 0 is an ordinary value of the input (an indicator, "
        "or values around 0), or else treats it as unknown."
    )
    y: Number | None = Field(
        default=None, description="The label. Null or absent: the event is only predicted."
    )
    id: Text | None = Field(default=None, description="The sender's id of this event.")
    timestamp: Moment | None = Field(
        default=None,
        description="When it happened: RFC 3339 with an offset, or POSIX seconds "
        "(numbers from 2e10 on are milliseconds).",
    )
    weight: Weight | None = Field(
        default=None,
        description="How much the event counts when it is learned, for a learner that takes "
        "weights; 1 by default.",
    )


class Label(BaseModel):
    """The label of an earlier event, in a record of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: Text = Field(description="The `id` of the labelled event.")
    y: Number = Field(description="The label.")
    timestamp: Moment | None = Field(
        default=None,
        description="When the label became known, as in an event; the delay is counted from the "
        "event's time. Labels are learned in order of arrival.",
    )
    weight: Weight | None = Field(
        default=None, description="As in an event; by default that of the labelled event."
    )


class ClassEvent(Event):
    """An event whose label is a class."""

    y: Number | Boolean | Text | None = Field(  # type: ignore[assignment]
        default=None, description="The class. Null or absent: the event is only predicted."
    )


class ClassLabel(Label):
    """The class of an earlier event, in a record of its own."""

    y: Number | Boolean | Text = Field(description="The class.")  # type: ignore[assignment]


_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")

_ESCAPE = re.compile("[\ud800-\udfff]")
"""What bytes of a key are that are not UTF-8."""

PAYLOAD_LIMIT = 64 * 1024
"""Bytes of the record that a dead letter keeps; a hash covers the whole record."""

KEY_LIMIT = 1024
"""Characters of a key that a dead letter keeps; it has no longer key."""

LEARNER_FAILED = "the learner failed"
"""Begins the reason of a dead letter whose record could be read."""

_SENT = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)
_SENT_IN_PART = ConfigDict(frozen=True)
"""Of messages with fields that are left out if they do not apply."""


Class = Annotated[StrictBool | StrictInt | StrictStr, Field(union_mode="left_to_right")]
"""A class of a classification: JSON keeps true, 1 and "1" apart."""

Target = Annotated[
    StrictBool | StrictInt | StrictFloat | StrictStr | None, Field(union_mode="left_to_right")
]
"""A number or a class; None: unknown."""


class Model(BaseModel):
    """The model that predicted.

    Its state is that after all records before the event, in the order in which they were learned.
    So partition and offset of the event name the state, and a prediction that is made again after a
    crash is the same to the last byte.
    """

    model_config = _SENT

    name: str = Field(description="The setting `model`; by default stream and learner.")
    version: str = Field(
        description="Digest of what determines the learner beside the stream: its name, options "
        "and seed, the mapping of fields, and the release of iln_stream. Of `iln-stream predict`: "
        "digest of the learner's state."
    )


class ClassProbability(BaseModel):
    """The probability of a class."""

    model_config = _SENT

    label: Class = Field(alias="class", description="The class, as its label came.")
    p: float


class PublishedExplanation(BaseModel):
    """What inputs contribute to a prediction: Shapley values against remembered events."""

    model_config = _SENT

    baseline: float = Field(description="Mean prediction over the remembered events.")
    contributions: dict[str, float] = Field(
        description="The largest contributions, by input; those of all inputs sum to the "
        "prediction (of a classification: the probability of y_pred) minus the baseline."
    )


class Prediction(BaseModel):
    """One prediction, made without knowledge of the event's label.

    Fields that do not apply, from `probabilities` on, are left out.
    """

    model_config = _SENT_IN_PART

    version: Literal[2]
    stream: str = Field(description="Topic, file or data set that the event came from.")
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    id: str | None = Field(description="The event's id, if it has one.")
    time: float | None = Field(
        description="When the event happened, or else when its record was written: POSIX seconds."
    )
    key: str | None = Field(
        description="The record's key, if it has one; bytes that are not UTF-8 as \\xff."
    )
    model: Model
    y_pred: Target = Field(
        description="The number in the units of y, or the most probable class; null before any "
        "class is known."
    )
    y: Target = Field(description="The label, if the event has one.")
    probabilities: tuple[ClassProbability, ...] | None = Field(
        default=None,
        description="The probability of each class; only of a classification.",
    )
    intervals: dict[str, tuple[float, float]] | None = Field(
        default=None,
        description="Where the label lies with the probability that is the key: lower and upper "
        "bound; only with `prediction_intervals`.",
    )
    quantiles: dict[str, float] | None = Field(
        default=None,
        description="What the label exceeds with the probability that is 1 minus the key, in "
        "ascending order; only with `prediction_quantiles`.",
    )
    explanation: PublishedExplanation | None = Field(
        default=None, description="Only with `prediction_contributions`."
    )
    horizon: str | None = Field(
        default=None,
        description="Of a forecast, how far ahead of the event it is: `24` of the value of the "
        "24th record after it, `24h` of that 24 hours after it.",
    )
    horizon_time: float | None = Field(
        default=None,
        description="Of a forecast by time, the time that it is for: POSIX seconds.",
    )
    series: tuple[str, ...] | None = Field(
        default=None,
        description="Only with `series`: that of the event, the values of these fields in order.",
    )
    contender: str | None = Field(
        default=None,
        description="Only with `challengers`: the contender that predicted, as it was the "
        "champion. `model.version` is its digest.",
    )
    challengers: dict[str, Target] | None = Field(
        default=None,
        description="Only with `prediction_challengers`: what each of the other contenders "
        "predicted, as `y_pred`; those that failed are left out.",
    )


def read_prediction(text: bytes | str) -> Prediction:
    """Return a prediction that the service wrote.

    Raises
    ------
    ValidationError
        When the text is none.

    """
    return Prediction.model_validate_json(text)


def _without_later_fields(schema: dict[str, Any]) -> None:
    """Do not require fields that letters of releases before 0.3.0 lack."""
    schema["required"] = [each for each in schema["required"] if each not in ("key", "written")]


class DeadLetter(BaseModel):
    """A record that could not be learned, with its position and the reason."""

    model_config = ConfigDict(**_SENT, json_schema_extra=_without_later_fields)

    version: Literal[1] = 1
    stream: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    reason: str = Field(description="Which field is wrong, and what is expected.")
    payload: str = Field(description="The record; bytes that are not UTF-8 are written as \\xNN.")
    payload_bytes: int = Field(ge=0, description="Size of the whole record.")
    payload_sha256: str = Field(description="SHA-256 of the whole record.")
    truncated: bool = Field(description="Whether `payload` is only the beginning of the record.")
    key: str | None = Field(
        default=None,
        description=f"Key of the record; null: none, one that is not UTF-8, or one of more than "
        f"{KEY_LIMIT:,} characters.",
    )
    written: float | None = Field(
        default=None, description="When the record was written: POSIX seconds; null: unknown."
    )

    @classmethod
    def of(
        cls,
        stream: str,
        partition: int,
        offset: int,
        payload: bytes,
        reason: str,
        key: str | None = None,
        written: float | None = None,
    ) -> "DeadLetter":
        """Return the dead letter of a record, which is cut to `PAYLOAD_LIMIT` bytes."""
        return cls(
            stream=stream,
            partition=partition,
            offset=offset,
            reason=reason.encode(errors="backslashreplace").decode(),
            payload=payload[:PAYLOAD_LIMIT].decode("utf-8", errors="backslashreplace"),
            payload_bytes=len(payload),
            payload_sha256=hashlib.sha256(payload).hexdigest(),
            truncated=len(payload) > PAYLOAD_LIMIT,
            key=None if key is None or _ESCAPE.search(key) or len(key) > KEY_LIMIT else key,
            written=written,
        )

    @property
    def kind(self) -> str:
        """The reason without values: letters of one cause share it."""
        return _VALUE.sub("…", self.reason)
