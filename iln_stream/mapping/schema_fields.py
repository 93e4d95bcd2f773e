"""The fields that a schema of a registry has."""

import json
from collections.abc import Iterator
from typing import Any


def schema_fields(text: str) -> set[str]:
    """Return the dotted paths of a schema's fields; empty if the text is no JSON.

    Fields of types that are defined elsewhere, or inside arrays and maps, are not listed.

    Parameters
    ----------
    text
        An Avro schema, or a JSON Schema.

    Examples
    --------
    >>> from iln_stream.mapping.schema_fields import schema_fields
    >>> shop = '{"type": "record", "name": "Shop", "fields": [{"name": "zip", "type": "string"}]}'
    >>> avro = f'{{"type": "record", "fields": [{{"name": "shop", "type": ["null", {shop}]}}]}}'
    >>> schema_fields(avro)
    {'shop.zip'}
    >>> schema_fields('{"properties": {"shop": {"properties": {"zip": {}}}}}')
    {'shop.zip'}

    """
    try:
        return set(_paths(json.loads(text)))
    except ValueError:
        return set()


def _paths(schema: Any, name: str = "") -> Iterator[str]:
    """Yield the paths below a schema, or its own if nothing is below it."""
    inner = list(_inner(schema))
    for below, kind in inner:
        yield from _paths(kind, f"{name}.{below}" if name else below)
    if not inner and name:
        yield name


def _inner(schema: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(schema, list):  # a union
        for each in schema:
            yield from _inner(each)
    elif isinstance(schema, dict):
        if isinstance(fields := schema.get("fields"), list):
            yield from ((each["name"], each["type"]) for each in fields)
        elif isinstance(properties := schema.get("properties"), dict):
            yield from properties.items()
        elif isinstance(kind := schema.get("type"), dict | list):
            yield from _inner(kind)
