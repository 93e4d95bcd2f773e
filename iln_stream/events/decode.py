"""From a record's payload to an event, or to the reason why it is none."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from iln_stream.events.event import Event, Label

LARGEST_PAYLOAD = 1 << 20
"""Bytes. More would be a stream of its own, and its inputs more than a learner has columns for."""


_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
"""A string in JSON."""


class MalformedError(ValueError):
    """The payload is no event; the message names the fields and what is expected of them."""


def decode(
    payload: bytes | Mapping[str, Any] | None,
    event_type: type[Event] = Event,
    label_type: type[Label] = Label,
) -> Event | Label:
    """Read an event, or the label of an earlier one: the latter has `id` and `y` and no `x`.

    Parameters
    ----------
    payload
        JSON text, or the fields themselves; None is a record without a value (a tombstone).
    event_type, label_type
        What is expected; a task's own say which labels are valid.

    Raises
    ------
    MalformedError
        When it is neither.

    Examples
    --------
    >>> decode(b'{"x": {"a": 1.5, "up": true}, "y": 2}').y
    2.0
    >>> decode(b'{"x": {"a": "NaN"}, "y": "2"}')
    Traceback (most recent call last):
    ...
    iln_stream.events.decode.MalformedError: y: Input should be a valid number, got '2'

    """
    if payload is None:
        raise MalformedError("the record has no value: an event is a JSON object")
    try:
        if not isinstance(payload, bytes):
            return event_type.model_validate(payload)
        if len(payload) > LARGEST_PAYLOAD:
            raise MalformedError(
                f"event: {len(payload):,} bytes, where at most {LARGEST_PAYLOAD:,} are allowed"
            )
        event = event_type.model_validate_json(payload)
    except ValidationError as error:
        if (label := _label(payload, label_type, error)) is None:
            raise MalformedError(_reason(error)) from None
        return label
    # Each key has a colon: without a colon too many no key came twice. Text may hold colons, too.
    n_keys = len(event.x) + len(event.model_fields_set)
    if payload.count(b":") > n_keys and _TEXT.sub(b"", payload).count(b":") > n_keys:
        _require_distinct_keys(payload)
    return event


def _label(
    payload: bytes | Mapping[str, Any], model: type[Label], error: ValidationError
) -> Label | None:
    """Return the label that a payload is, None where it was meant as an event."""
    if not any(each["type"] == "missing" and each["loc"] == ("x",) for each in error.errors()):
        return None
    try:
        if not isinstance(payload, bytes):
            return model.model_validate(payload)
        label = model.model_validate_json(payload)
    except ValidationError:
        return None
    _require_distinct_keys(payload)
    return label


def _require_distinct_keys(payload: bytes) -> None:
    """Refuse an object that has a key twice; of its two values, a parser would drop one."""

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) < len(pairs):
            ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise MalformedError(f"{_name(twice)}: this key came more than once in one object")
        return seen

    json.loads(payload, object_pairs_hook=distinct)


def payload_bytes(payload: bytes | Mapping[str, Any] | None) -> bytes:
    """Return the payload as bytes, for a dead letter."""
    if payload is None:
        return b""
    if isinstance(payload, bytes):
        return payload
    return json.dumps(payload, default=repr).encode()


def _reason(error: ValidationError, most: int = 5) -> str:
    """One line naming each wrong field once."""
    problems: dict[str, str] = {}
    for detail in error.errors(include_url=False):
        # x's values are a union: its members' complaints about one value are one complaint.
        path = detail["loc"][:2] if detail["loc"][:1] == ("x",) else detail["loc"]
        field = ".".join(_name(part) for part in path) or "event"
        if field in problems:
            continue
        if len(detail["loc"]) > 2:
            message = "expected a finite number, boolean, string or null"
        else:
            message = detail["msg"]
        problems[field] = f"{field}: {message}, got {_shown(detail['input'])}"
    lines = list(problems.values())
    more = f" (and {len(lines) - most} more)" if len(lines) > most else ""
    return "; ".join(lines[:most]) + more


def _name(part: object) -> str:
    """A field's name as it is; only one that would break the line is shown quoted."""
    text = str(part)
    return _cut(text if text.isprintable() else repr(text))


def _shown(value: object) -> str:
    return _cut(repr(value))


def _cut(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
