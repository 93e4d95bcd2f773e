"""A client of `iln-stream serve`: predictions, events and labels over HTTP.

`Client` blocks, `AsyncClient` awaits.
"""

try:
    import httpx  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "iln_stream.client needs httpx: pip install 'iln-stream[client]'", name="httpx"
    ) from None

from iln_stream.serving.client import AsyncClient, Client
from iln_stream.serving.client_calls import Retries
from iln_stream.serving.client_messages import (
    AnswerError,
    Appended,
    ClientError,
    Interval,
    Model,
    ModelVersion,
    NewEvent,
    NewLabel,
    Prediction,
    Readiness,
    StatusError,
    TimedOutError,
    TransportError,
    UnavailableError,
)

__all__ = [
    "AnswerError",
    "Appended",
    "AsyncClient",
    "Client",
    "ClientError",
    "Interval",
    "Model",
    "ModelVersion",
    "NewEvent",
    "NewLabel",
    "Prediction",
    "Readiness",
    "Retries",
    "StatusError",
    "TimedOutError",
    "TransportError",
    "UnavailableError",
]
