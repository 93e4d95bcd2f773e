"""Fields of payloads in JSON, and of rows that are mappings already."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import from_json

from iln_stream.events import MalformedError
from iln_stream.events.decode import check_size, require_distinct_keys
from iln_stream.mapping.plain import plain


def parse_json(payload: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the fields of a JSON object; a mapping is returned as it is.

    Raises
    ------
    MalformedError
        When the payload is no JSON object, is too large, or has a key twice.

    """
    if isinstance(payload, Mapping):
        return payload
    if payload is None:
        raise MalformedError("the record has no value; it should be a JSON object")
    check_size(payload)
    try:
        fields = from_json(payload)
    except ValueError as error:
        raise MalformedError(f"record: Invalid JSON: {error}") from None
    if not isinstance(fields, dict):
        raise MalformedError(f"record: expected a JSON object, got {str(fields)[:60]}")
    if payload.count(b":") > len(
        fields
    ):  # there are nested keys, repeated keys or texts with colons
        require_distinct_keys(payload, _n_keys(fields))
    return fields


def parse_row(payload: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the cells of a row by column.

    Raises
    ------
    MalformedError
        When the row has more cells than the header.

    """
    assert isinstance(payload, Mapping)
    if any(isinstance(value, list) for value in payload.values()):
        raise MalformedError("row: it has more cells than the header has columns")
    return payload


def parse_table_row(payload: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the values of a table's row by column: numbers, texts, lists and dictionaries."""
    assert isinstance(payload, Mapping)
    return plain(payload)  # type: ignore[no-any-return]


def _n_keys(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_n_keys, value.values()))
    return sum(map(_n_keys, value)) if isinstance(value, list) else 0
