"""How a record is taken apart: JSON, rows, and formats of the user's own."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from pydantic_core import from_json

from iln_stream.errors import IlnWarning, SourceError
from iln_stream.records.decoding import (
    MalformedError,
    SkippedError,
    check_size,
    require_distinct_keys,
)
from iln_stream.records.values import plain

LONGEST_LIST = 1_000
"""Most items of a list that become fields; a longer list stays one field."""


class Indicator(float):
    """The value of a text in a list: 1, which no field of a record has as its own."""

    __slots__ = ()


INDICATOR = Indicator(1.0)


def flatten(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record's fields by dotted path: `{"user": {"age": 3}}` has the field `user.age`.

    A list of numbers has a field for each position, a list of texts one for each text,
    `INDICATOR`.

    Raises
    ------
    MalformedError
        When two fields get the same path; a text may be in a list twice.

    Examples
    --------
    >>> from iln_stream.records.parsing import flatten
    >>> flatten({"user": {"age": 3}, "spot": [1.5, 2.5], "tags": ["new"]})
    {'user.age': 3, 'spot.0': 1.5, 'spot.1': 2.5, 'tags=new': 1.0}

    """
    flat: dict[str, Any] = {}
    for path, value in _leaves("", fields):
        if path in flat and not (value is INDICATOR and flat[path] is INDICATOR):
            raise MalformedError(f"{path}: two fields of the record have this path; rename one")
        flat[path] = value
    return flat


def _leaves(prefix: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _leaves(f"{prefix}.{name}" if prefix else str(name), inner)
    elif isinstance(value, list) and len(value) <= LONGEST_LIST:
        for place, item in enumerate(value):
            if isinstance(item, str):
                yield f"{prefix}={item}", INDICATOR
            else:
                yield from _leaves(f"{prefix}.{place}", item)
    else:
        yield prefix, value


def parse_json(payload: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the fields of a JSON object; a mapping is returned as it is.

    Raises
    ------
    MalformedError
        When the payload is no JSON object, is too large, or has a key twice.

    """
    if not isinstance(payload, bytes):
        if payload is None:
            raise MalformedError("the record has no value; it should be a JSON object")
        return payload
    check_size(payload)
    try:
        fields = from_json(payload)
    except ValueError as error:
        is_within = b"{" in payload[1:] and not payload.lstrip().startswith((b"{", b"["))
        remedy = "; an object with text before it is read by a decoder (decoder)" * is_within
        raise MalformedError(f"record: Invalid JSON: {error}{remedy}") from None
    if not isinstance(fields, dict):
        raise MalformedError(f"record: expected a JSON object, got {str(fields)[:60]}")
    # Nested keys, repeated keys and texts may have more colons.
    if payload.count(b":") > len(fields):
        require_distinct_keys(payload, n_keys(fields))
    return fields


def parse_row(payload: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the cells of a row by column.

    Raises
    ------
    MalformedError
        When the row has more cells than the header.

    """
    fields = cast(dict[str, Any], payload)
    if None in fields:  # a key as of csv.DictReader
        raise MalformedError("row: it has more cells than the header has columns")
    if next(reversed(fields.values()), "") is None:  # those that are missing are the last
        warnings.warn(
            "row: a row has fewer cells than the header has columns; those at its end are missing "
            "values (iln_values_missing_total counts them)",
            IlnWarning,
            stacklevel=2,
        )
    return fields


def parse_table_row(payload: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the values of a table's row by column: numbers, texts, lists and dictionaries."""
    assert isinstance(payload, Mapping)
    return plain(payload)  # type: ignore[no-any-return]


def n_keys(value: Any) -> int:
    """Return the number of keys in all objects of a value."""
    if isinstance(value, dict):
        return len(value) + sum(map(n_keys, value.values()))
    return sum(map(n_keys, value)) if isinstance(value, list) else 0


class OwnFormat:
    """Makes fields of records with a user's function.

    Parameters
    ----------
    name
        Where the function comes from, for errors.
    read
        Gets a record's bytes and returns its fields, possibly nested, or None to skip the record.
        If it raises `SourceError`, the run ends; after any other error the record is a dead letter.

    Examples
    --------
    >>> from iln_stream.records.parsing import OwnFormat
    >>> OwnFormat("pairs", lambda payload: dict([payload.decode().split("=")]))(b"a=1.5")
    {'a': '1.5'}

    """

    def __init__(self, name: str, read: Callable[[bytes], Mapping[str, Any] | None]) -> None:
        self._name = name
        self._read = read

    def __call__(self, payload: bytes | Mapping[str, Any] | None) -> Mapping[str, Any]:
        """Return the fields of a record.

        Raises
        ------
        MalformedError
            When the function fails or returns no mapping, or when the record has no value.
        SkippedError
            When the function returns None.

        """
        if not isinstance(payload, bytes):
            raise MalformedError(f"the record has no value for decoder = {self._name}")
        try:
            fields = self._read(payload)
        except (MalformedError, SourceError):
            raise
        except Exception as error:  # the user's function may raise any
            problem = f"{type(error).__name__}: {error}"[:200]
            raise MalformedError(f"record: decoder = {self._name} failed: {problem}") from error
        if fields is None:
            raise SkippedError(f"decoder = {self._name} leaves the record out")
        if not isinstance(fields, Mapping):
            raise MalformedError(
                f"record: decoder = {self._name} returned {type(fields).__name__}; it has to "
                "return a mapping of fields, or None to skip the record"
            )
        found: Mapping[str, Any] = plain(fields)
        try:
            json.dumps(found, ensure_ascii=False, default=repr).encode()
        except UnicodeEncodeError:
            raise MalformedError(
                f"record: decoder = {self._name} returned a text that is no Unicode (a lone "
                "surrogate): replace such characters in it"
            ) from None
        return found
