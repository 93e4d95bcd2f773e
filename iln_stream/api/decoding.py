"""Decoding bodies as strictly as records of a stream."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from iln_stream.api.http_error import HttpError
from iln_stream.api.messages import EventBatch, EventToPredict, PredictBatch
from iln_stream.events import Event, MalformedError, reason, require_distinct_keys

One = TypeVar("One", bound=BaseModel)
Batch = TypeVar("Batch", bound=BaseModel)


def decoded(body: bytes, one: type[One]) -> One:
    """Return the message in a body.

    Raises
    ------
    HttpError
        400 if the body is not JSON, or has a key twice in an object; else 422 if it is not such a
        message.

    """
    try:
        found = one.model_validate_json(body)
    except ValidationError as error:
        raise _refused(error) from None
    _require_distinct_keys(body, found)
    return found


def decoded_batch(body: bytes, one: type[One], batch: type[Batch]) -> One | Batch:
    """Return the message or, if the body has the field `events`, the batch in it; as `decoded`."""
    try:
        found: One | Batch = one.model_validate_json(body)
    except ValidationError as error:
        if not any(each["loc"] == ("events",) for each in error.errors(include_url=False)):
            raise _refused(error) from None
        return decoded(body, batch)
    _require_distinct_keys(body, found)
    return found


def _refused(error: ValidationError) -> HttpError:
    (first, *_) = error.errors(include_url=False, include_input=False)
    status = 400 if first["type"] == "json_invalid" else 422
    return HttpError(status, "malformed", reason(error, root="body"))


def _require_distinct_keys(body: bytes, message: BaseModel) -> None:
    try:
        require_distinct_keys(body, _n_keys(message))
    except MalformedError as error:
        raise HttpError(400, "malformed", str(error)) from None


def _n_keys(message: BaseModel) -> int:
    """Return the number of keys in the JSON of a message."""
    n = len(message.model_fields_set)
    if isinstance(message, Event | EventToPredict):
        n += len(message.x)
    elif isinstance(message, EventBatch | PredictBatch):
        n += sum(map(_n_keys, message.events))
    return n
