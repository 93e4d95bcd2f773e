"""Decoding the payload of a record into an event, or into the reason why that failed."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from iln_stream.events.event import Event, Label

LARGEST_PAYLOAD = 1 << 20
"""Bytes. A larger payload has more inputs than a learner has columns for."""

MOST_ERRORS = 3000
"""Of a payload: each takes pydantic some microseconds to describe. A wrong input has three."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
"""A string in JSON."""

_NUMBER = re.compile(r"\s*[-+]?(\d+[.,]?\d*|[.,]\d+)([eE][-+]?\d+)?\s*|\s*|(?i:nan|[-+]?inf\w*)")
"""Text that is meant as a number, or as a missing one."""

CLASS_REMEDY = "if it is a class, set learner = infinite-layer-classifier"

_SPACES = b" \t\n\r"
"""White space in JSON."""


class MalformedError(ValueError):
    """The payload is not an event; the message names the wrong fields and what they should be."""


def decode(
    payload: bytes | Mapping[str, Any] | None,
    event_type: type[Event] = Event,
    label_type: type[Label] = Label,
) -> Event | Label:
    """Decode an event, or the label of an earlier event, which has `id` and `y` but no `x`.

    Parameters
    ----------
    payload
        JSON text, or the fields as a mapping; None for a record without a value (a tombstone).
    event_type, label_type
        Models that the payload must match; those of a task define which labels are valid.

    Raises
    ------
    MalformedError
        When the payload is neither.

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
        raise MalformedError("the record has no value; an event is a JSON object")
    try:
        if not isinstance(payload, bytes):
            return event_type.model_validate(payload)
        check_size(payload)
        event = event_type.model_validate_json(payload)
    except ValidationError as error:
        details = error_details(error)
        if (label := _label(payload, label_type, details)) is None:
            raise MalformedError(reason(details)) from None
        return label
    require_distinct_keys(payload, len(event.x) + len(event.model_fields_set))
    return event


def check_size(payload: bytes) -> None:
    """Raise MalformedError if a payload has more than `LARGEST_PAYLOAD` bytes."""
    if len(payload) > LARGEST_PAYLOAD:
        raise MalformedError(
            f"event: {len(payload):,} bytes; at most {LARGEST_PAYLOAD:,} are allowed"
        )


def require_distinct_keys(payload: bytes, n_keys: int) -> None:
    """Raise MalformedError if an object of a valid payload has a key twice.

    Outside of strings a colon follows each key and stands nowhere else, so the payload has as many
    colons as keys. If as many distinct keys were decoded, none was dropped. Strings may have
    colons, too, as a timestamp does; a quote before a colon is rarer, and strings are removed last.
    For ten inputs this takes 0.5 to 1 us of an event's 3 us; `_find_repeated_key` would parse the
    event again in Python, which takes 6.6 us.

    Parameters
    ----------
    payload
        JSON text.
    n_keys
        Number of distinct keys that were decoded from it.

    """
    if (
        payload.count(b":") > n_keys
        and payload.translate(None, _SPACES).count(b'":') > n_keys
        and _STRING.sub(b"", payload).count(b":") > n_keys
    ):
        _find_repeated_key(payload)


def _label(
    payload: bytes | Mapping[str, Any], model: type[Label], details: Iterable[Mapping[str, Any]]
) -> Label | None:
    """Return the payload as a label; None if it is not one."""
    if not any(each["type"] == "missing" and each["loc"] == ("x",) for each in details):
        return None
    try:
        if not isinstance(payload, bytes):
            return model.model_validate(payload)
        label = model.model_validate_json(payload)
    except ValidationError:
        return None
    require_distinct_keys(payload, len(label.model_fields_set))
    return label


def _find_repeated_key(payload: bytes) -> None:
    """Raise MalformedError if an object has a key twice: parsers would drop one of its values."""

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) < len(pairs):
            ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise MalformedError(f"{_name(twice)}: this key occurs more than once in one object")
        return seen

    json.loads(payload, object_pairs_hook=distinct)


def payload_bytes(payload: bytes | Mapping[str, Any] | None) -> bytes:
    """Return the payload as bytes, for a dead letter."""
    if payload is None:
        return b""
    if isinstance(payload, bytes):
        return payload
    return json.dumps(payload, default=repr).encode()


def error_details(error: ValidationError, root: str = "event") -> Sequence[Mapping[str, Any]]:
    """Return the errors of a payload; `root` names the whole payload.

    Raises
    ------
    MalformedError
        When it has more than `MOST_ERRORS`: to describe those of a megabyte takes seconds.

    """
    if error.error_count() > MOST_ERRORS:
        raise MalformedError(
            f"{root}: more than {MOST_ERRORS:,} errors, too many to list; check the form of its "
            "fields"
        )
    return error.errors(include_url=False)


def reason(details: Iterable[Mapping[str, Any]], root: str = "event", most: int = 5) -> str:
    """Return one line that names each wrong field once; `root` names the whole payload."""
    problems: dict[str, str] = {}
    remedy: tuple[str, ...] = ()
    for detail in details:
        # Values of x have a union type; pydantic reports an error for each of its members.
        path = detail["loc"]
        if "x" in path:
            path = path[: path.index("x") + 2]
        field = ".".join(_name(part) for part in path) or root
        if field in problems:
            continue
        if len(detail["loc"]) > len(path):
            message = "expected a finite number, boolean, string or null"
            if isinstance(detail["input"], dict):
                message += f' (send nested fields by their path, such as "{path[-1]}.a")'
        else:
            message = detail["msg"]
            if path == ("y",) and _is_class(detail["input"]):
                remedy = (CLASS_REMEDY,)
        shown = _shown(detail["input"])
        is_id = path[-1:] == ("id",) and "x" not in path
        hint = f' (ids are text: send "{shown}")' if is_id and _is_number(detail["input"]) else ""
        problems[field] = f"{field}: {message}, got {shown}{hint}"
    lines = list(problems.values())
    more = f" (and {len(lines) - most} more)" if len(lines) > most else ""
    return "; ".join([*lines[:most], *remedy]) + more


def _is_class(y: object) -> bool:
    """Whether a label that is no number looks like a class."""
    return isinstance(y, bool) or (isinstance(y, str) and not _NUMBER.fullmatch(y))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name(part: object) -> str:
    """Return a field's name, quoted if it has a line break or another unprintable character."""
    text = str(part)
    return _cut(text if text.isprintable() else repr(text))


def _shown(value: object) -> str:
    return _cut(repr(value))


def _cut(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
