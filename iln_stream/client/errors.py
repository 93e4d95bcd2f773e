"""Errors of the client."""

from collections.abc import Sequence

from iln_stream.client.answers import Appended
from iln_stream.errors import IlnError


class ClientError(IlnError):
    """A call failed; the base of all errors of the client.

    Attributes
    ----------
    appended
        Of `append_many` and `feedback_many`: places of the events or labels before the failure,
        which are stored.

    """

    appended: Sequence[Appended] = ()


class TransportError(ClientError):
    """The server could not be reached, or the connection failed before its answer was complete.

    An event without an id may have been appended.
    """


class TimedOutError(TransportError):
    """The server took longer than `timeout`."""


class AnswerError(ClientError):
    """The answer is not one of this API."""


class StatusError(ClientError):
    """The server refused the request; the message is the server's.

    Parameters
    ----------
    status
        HTTP status, from 400 on.
    message
        What is wrong, and the remedy.
    retry_after
        Seconds after which the server asks to try again; None: it does not say.

    """

    def __init__(self, status: int, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class UnavailableError(StatusError):
    """The server can't do it now (408, 429, 502, 503 or 504); later it may."""
