"""What we send out: predictions, and the letters that could not be learned from."""

import hashlib
from json.encoder import encode_basestring as quoted
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

PAYLOAD_LIMIT = 64 * 1024
"""Bytes of a dead letter's payload that are kept as they came; the rest is told by its hash."""


_SENT = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


class Prediction(BaseModel):
    """One prediction, made before the event's label was looked at."""

    model_config = _SENT

    version: Literal[1] = 1
    stream: str = Field(description="Topic, file or data set the event came from.")
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    id: str | None = Field(description="The event's own id, if it had one.")
    y_pred: float = Field(description="The prediction, in y's units.")
    y: float | None = Field(description="The label, if the event had one.")


class PredictionEncoder:
    """Writes the predictions of one stream as JSON, in a fraction of pydantic's time.

    Parameters
    ----------
    stream
        As of `Prediction`.

    Examples
    --------
    >>> encode = PredictionEncoder("iln-events")
    >>> print(encode(0, 42, "a-17", y_pred=12.5, y=None).decode())
    {"version":1,"stream":"iln-events","partition":0,"offset":42,"id":"a-17","y_pred":12.5,"y":null}

    """

    def __init__(self, stream: str) -> None:
        self._begin = f'{{"version":1,"stream":{quoted(stream)},"partition":'

    def __call__(
        self, partition: int, offset: int, event_id: str | None, y_pred: float, y: float | None
    ) -> bytes:
        """Return a `Prediction` as UTF-8. Its finite numbers can be read back to the bit."""
        name = "null" if event_id is None else quoted(event_id)
        label = "null" if y is None else repr(y)
        return (
            f'{self._begin}{partition},"offset":{offset},"id":{name},"y_pred":{y_pred!r},'
            f'"y":{label}}}'
        ).encode()


class DeadLetter(BaseModel):
    """A record that is no event we can learn from, with why and where it stood."""

    model_config = _SENT

    version: Literal[1] = 1
    stream: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    reason: str = Field(description="What is wrong, naming the field, and what is expected.")
    payload: str = Field(description="The record as it came; bytes that are no UTF-8 as \\xNN.")
    payload_bytes: int = Field(ge=0, description="Size of the whole record.")
    payload_sha256: str = Field(description="Of the whole record.")
    truncated: bool = Field(description="Whether `payload` holds only the beginning.")

    @classmethod
    def of(
        cls, stream: str, partition: int, offset: int, payload: bytes, reason: str
    ) -> "DeadLetter":
        """The letter for a record's bytes, cut to `PAYLOAD_LIMIT`."""
        return cls(
            stream=stream,
            partition=partition,
            offset=offset,
            reason=reason,
            payload=payload[:PAYLOAD_LIMIT].decode("utf-8", errors="backslashreplace"),
            payload_bytes=len(payload),
            payload_sha256=hashlib.sha256(payload).hexdigest(),
            truncated=len(payload) > PAYLOAD_LIMIT,
        )
