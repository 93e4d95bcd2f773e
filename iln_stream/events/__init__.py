"""Events as they cross the wire, and what we send out about them."""

from iln_stream.events.decode import MalformedError, decode, payload_bytes
from iln_stream.events.event import Event
from iln_stream.events.messages import DeadLetter, Prediction, PredictionEncoder
from iln_stream.events.one_hot import one_hot

__all__ = [
    "DeadLetter",
    "Event",
    "MalformedError",
    "Prediction",
    "PredictionEncoder",
    "decode",
    "one_hot",
    "payload_bytes",
]
