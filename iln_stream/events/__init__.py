"""The messages that the service reads and sends."""

from iln_stream.events.decode import (
    MalformedError,
    decode,
    error_details,
    payload_bytes,
    reason,
    require_distinct_keys,
)
from iln_stream.events.event import ClassEvent, ClassLabel, Event, Inputs, Label
from iln_stream.events.example import Decoder, EnvelopeDecoder, Example
from iln_stream.events.messages import DeadLetter, Prediction, PredictionEncoder
from iln_stream.events.numbers_as_text import NumbersAsText
from iln_stream.events.one_hot import one_hot
from iln_stream.events.proposal import proposal

__all__ = [
    "ClassEvent",
    "ClassLabel",
    "DeadLetter",
    "Decoder",
    "EnvelopeDecoder",
    "Event",
    "Example",
    "Inputs",
    "Label",
    "MalformedError",
    "NumbersAsText",
    "Prediction",
    "PredictionEncoder",
    "decode",
    "error_details",
    "one_hot",
    "payload_bytes",
    "proposal",
    "reason",
    "require_distinct_keys",
]
