"""A client of `iln-stream serve`: predictions, events and labels over HTTP.

`Client` blocks, `AsyncClient` awaits; both are thin shells around `calls.py`, which builds
requests, parses answers and decides about retries, and knows nothing of sockets. `answers.py` has
the results of calls, `errors.py` their errors.
"""

try:
    import httpx  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError(
        "iln_stream.client needs httpx: pip install 'iln-stream[client]'", name="httpx"
    ) from None

from iln_stream.client.answers import (
    Appended,
    Interval,
    Model,
    ModelVersion,
    Prediction,
    Readiness,
)
from iln_stream.client.async_client import AsyncClient
from iln_stream.client.client import Client
from iln_stream.client.errors import (
    AnswerError,
    ClientError,
    StatusError,
    TimedOutError,
    TransportError,
    UnavailableError,
)
from iln_stream.client.messages import NewEvent, NewLabel
from iln_stream.client.retries import Retries

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
