"""The messages that the service reads and sends."""

from iln_stream.events.command import Command, is_command, promoted, promotion
from iln_stream.events.decode import (
    CLASS_REMEDY,
    MalformedError,
    decode,
    error_details,
    payload_bytes,
    reason,
    require_distinct_keys,
)
from iln_stream.events.event import (
    ClassEvent,
    ClassLabel,
    Event,
    Inputs,
    Label,
    Moment,
    Text,
    Weight,
)
from iln_stream.events.example import Decoder, EnvelopeDecoder, Example
from iln_stream.events.messages import (
    LEARNER_FAILED,
    DeadLetter,
    Prediction,
    PredictionV1,
    read_prediction,
)
from iln_stream.events.numbers_as_text import NumbersAsText
from iln_stream.events.one_hot import one_hot
from iln_stream.events.prediction_encoder import PredictionEncoder
from iln_stream.events.proposal import proposal

__all__ = [
    "CLASS_REMEDY",
    "LEARNER_FAILED",
    "ClassEvent",
    "ClassLabel",
    "Command",
    "DeadLetter",
    "Decoder",
    "EnvelopeDecoder",
    "Event",
    "Example",
    "Inputs",
    "Label",
    "MalformedError",
    "Moment",
    "NumbersAsText",
    "Prediction",
    "PredictionEncoder",
    "PredictionV1",
    "Text",
    "Weight",
    "decode",
    "error_details",
    "is_command",
    "one_hot",
    "payload_bytes",
    "promoted",
    "promotion",
    "proposal",
    "read_prediction",
    "reason",
    "require_distinct_keys",
]
