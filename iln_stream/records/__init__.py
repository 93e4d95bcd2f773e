"""The messages that the service reads and sends."""

from iln_stream.records.commands import Command, is_command, promoted, promotion
from iln_stream.records.decoding import (
    Decoder,
    EnvelopeDecoder,
    Example,
    MalformedError,
    SkippedError,
    decode,
    one_hot,
    payload_bytes,
)
from iln_stream.records.messages import (
    LEARNER_FAILED,
    ClassEvent,
    ClassLabel,
    DeadLetter,
    Event,
    Label,
    Prediction,
    read_prediction,
)
from iln_stream.records.predictions import PredictionEncoder

__all__ = [
    "LEARNER_FAILED",
    "ClassEvent",
    "ClassLabel",
    "Command",
    "DeadLetter",
    "Decoder",
    "EnvelopeDecoder",
    "Event",
    "Example",
    "Label",
    "MalformedError",
    "Prediction",
    "PredictionEncoder",
    "SkippedError",
    "decode",
    "is_command",
    "one_hot",
    "payload_bytes",
    "promoted",
    "promotion",
    "read_prediction",
]
