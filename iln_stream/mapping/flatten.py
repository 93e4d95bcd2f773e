"""Nested records as flat ones."""

from collections.abc import Iterator, Mapping
from typing import Any

from iln_stream.events import MalformedError

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
    >>> from iln_stream.mapping.flatten import flatten
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
