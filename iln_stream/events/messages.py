"""The messages that the service sends: predictions and dead letters."""

import hashlib
import re
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    TypeAdapter,
)

_VALUE = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")

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


class PredictionV1(BaseModel):
    """A prediction of a number, as releases before version 2 wrote it."""

    model_config = _SENT

    version: Literal[1] = 1
    stream: str = Field(description="Topic, file or data set that the event came from.")
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    id: str | None = Field(description="The event's id, if it has one.")
    y_pred: float = Field(description="The prediction, in the units of y.")
    y: float | None = Field(description="The label, if the event has one.")


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
    contender: str | None = Field(
        default=None,
        description="Only with `challengers`: the contender that predicted, as it was the "
        "champion. `model.version` is its version.",
    )


AnyPrediction = Annotated[Prediction | PredictionV1, Field(discriminator="version")]
_any_prediction: TypeAdapter[Prediction | PredictionV1] = TypeAdapter(AnyPrediction)


def read_prediction(text: bytes | str) -> Prediction | PredictionV1:
    """Return a prediction of any version.

    Raises
    ------
    ValidationError
        When the text is none.

    Examples
    --------
    >>> old = '{"version":1,"stream":"s","partition":0,"offset":4,"id":null,"y_pred":12.5,"y":null}'
    >>> read_prediction(old).y_pred
    12.5

    """
    return _any_prediction.validate_json(text)


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
            reason=reason,
            payload=payload[:PAYLOAD_LIMIT].decode("utf-8", errors="backslashreplace"),
            payload_bytes=len(payload),
            payload_sha256=hashlib.sha256(payload).hexdigest(),
            truncated=len(payload) > PAYLOAD_LIMIT,
            key=None if key is None or not _is_kept(key) else key,
            written=written,
        )

    @property
    def kind(self) -> str:
        """The reason without values: letters of one cause share it."""
        return _VALUE.sub("…", self.reason)


def _is_kept(key: str) -> bool:
    try:
        key.encode()
    except UnicodeEncodeError:  # bytes that are not UTF-8 are surrogate escapes
        return False
    return len(key) <= KEY_LIMIT
