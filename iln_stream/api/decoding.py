"""Decoding bodies as strictly as records of a stream."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from iln_stream.api.http_error import HttpError
from iln_stream.api.messages import EventBatch, EventToPredict, LabelBatch, PredictBatch
from iln_stream.events import (
    Event,
    MalformedError,
    error_details,
    reason,
    require_distinct_keys,
)

_LONGEST_EXAMPLE = 100

One = TypeVar("One", bound=BaseModel)
Batch = TypeVar("Batch", bound=BaseModel)


def decoded(body: bytes, model: type[One]) -> One:
    """Return the message in a body.

    Raises
    ------
    HttpError
        400 if the body is not JSON, or has a key twice in an object; 422 if it is another message.

    """
    try:
        found = model.model_validate_json(body)
    except ValidationError as error:
        raise _refused(_details(error)) from None
    _require_distinct_keys(body, found)
    return found


def decoded_batch(
    body: bytes, one: type[One], batch: type[Batch], most: int, field: str = "events"
) -> One | Batch:
    """Return the message in a body or, if the body has the field of a batch, the batch.

    Parameters
    ----------
    body
        JSON text.
    one, batch
        Models of a message and of a batch.
    most
        Most items in a batch.
    field
        The batch's field with the items.

    Raises
    ------
    HttpError
        400 if the body is not JSON, or has a key twice in an object; 413 if the batch is too long,
        before its items are checked; else 422 if it is neither message nor batch.

    """
    found: One | Batch
    try:
        found = one.model_validate_json(body)
    except ValidationError as error:
        details = _details(error)
        batches = [each["input"] for each in details if each["loc"] == (field,)]
        if not batches:
            raise _refused(details) from None
        for items in batches:
            _check_length(items, most, field)
        try:
            found = batch.model_validate_json(body)
        except ValidationError as wrong:
            raise _refused(_details(wrong)) from None
    _require_distinct_keys(body, found)
    return found


def _details(error: ValidationError) -> Sequence[Mapping[str, Any]]:
    try:
        return error_details(error, root="body")
    except MalformedError as too_many:
        raise HttpError(422, "malformed", str(too_many)) from None


def _refused(details: Sequence[Mapping[str, Any]]) -> HttpError:
    status = 400 if details[0]["type"] == "json_invalid" else 422
    return HttpError(status, "malformed", reason(details, root="body") + _remedy(details))


def _remedy(details: Sequence[Mapping[str, Any]]) -> str:
    """Return where to put inputs that are not under x; empty if x was sent."""
    if not any(each["type"] == "missing" and each["loc"][-1] == "x" for each in details):
        return ""
    inputs = {
        str(each["loc"][-1]): each["input"]
        for each in details
        if each["type"] == "extra_forbidden" and isinstance(each["input"], str | int | float)
    }
    example = json.dumps({"x": inputs})
    if not inputs or len(example) > _LONGEST_EXAMPLE:
        example = '{"x": {"temperature": 21.5}}'
    return f'; put the inputs under "x": {example}'


def _check_length(items: object, most: int, field: str) -> None:
    if isinstance(items, list) and len(items) > most:
        raise HttpError(
            413,
            "batch size",
            f"{field}: {len(items):,} in a request, and at most {most:,} are allowed; send "
            "several requests",
        )


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
    elif isinstance(message, LabelBatch):
        n += sum(map(_n_keys, message.labels))
    return n
