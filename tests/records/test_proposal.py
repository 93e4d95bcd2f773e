"""`proposal`: advice about records that are not events."""

import json

import pytest

from iln_stream.records import proposal


@pytest.mark.parametrize(
    ("fields", "label"),
    [
        ({"target": 2, "b": 3}, "target"),
        ({"a": 1, "label": 2, "b": 3}, "label"),
        ({"y": 1, "label": 2}, "y"),
        ({"rooms": 3, "price": 1.5, "city": "Bonn"}, "price"),
        ({"sky": "clear", "up": "yes"}, "up"),
    ],
)
def test_guessed_label(fields, label):
    """The guess is a field with a usual name, or else the last number, or else the last field."""
    assert f"If {label} is the label" in proposal(json.dumps(fields))


def test_long_records_are_shortened():
    """The proposal for a record with many fields shows only some of them, and counts the others."""
    text = proposal(json.dumps({f"a{i}": i for i in range(1000)}))
    assert "and 992 more" in text
    assert len(text) < 400


@pytest.mark.parametrize("payload", ["", "price,rooms", "[1, 2]", "{}", "3", '{"x": [1]}'])
def test_no_fields_to_use(payload):
    """For a record without usable fields, the proposal shows the format of an event."""
    assert "An event is " in proposal(payload)
    assert '"x"' in proposal(payload)
