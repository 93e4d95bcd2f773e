"""Errors with a status, a message and a reason that is counted."""

import json
from collections.abc import Mapping

from starlette.responses import Response


class HttpError(Exception):
    """A request that is not carried out.

    Parameters
    ----------
    status
        HTTP status.
    reason
        One or two words: value of the label `reason` of `iln_api_refusals_total`.
    message
        What is wrong, and the remedy.
    headers
        Further headers of the answer.

    """

    def __init__(
        self, status: int, reason: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.headers = dict(headers or {})

    def answer(self) -> Response:
        """Return the answer."""
        return error_answer(self.status, str(self), self.headers)


def retry(seconds: float) -> dict[str, str]:
    """Return the header that says when to try again."""
    return {"Retry-After": str(max(1, round(seconds)))}


def error_body(message: str) -> bytes:
    """Return the body that all errors have."""
    text = json.dumps({"error": message}, ensure_ascii=False) + "\n"
    return text.encode(errors="backslashreplace")


def error_answer(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer of an error."""
    return Response(error_body(message), status, headers, media_type="application/json")
