"""`schema_fields`: the paths of a schema's fields."""

import json

import pytest

from iln_stream.records.fields import schema_fields


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "record", "fields": [
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "sky", "type": {"type": "enum", "symbols": ["A"]}},
            {"name": "shop", "type": ["null", {"type": "record", "fields": [
                {"name": "zip", "type": "string"}, {"name": "other", "type": "Shop"}]}]},
            {"name": "spot", "type": {"type": "array", "items": "double"}},
        ]}, {"at", "sky", "shop.zip", "shop.other", "spot"}),
        ({"type": "object", "properties": {"a": {"type": "number"}, "b": {"properties": {
            "c": {"type": ["null", "string"]}}}}}, {"a", "b.c"}),
        ("string", set()),
    ],
)  # fmt: skip
def test_paths(schema, expected):
    """Fields of nested records and of unions have dotted paths; other types have one path."""
    assert schema_fields(json.dumps(schema)) == expected


def test_no_json():
    """A text that is no JSON, as of another format, has no fields."""
    assert schema_fields("syntax = 'proto3';") == set()
