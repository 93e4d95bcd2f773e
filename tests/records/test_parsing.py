"""`parse_json` and `parse_row`: fields of payloads."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.records import MalformedError
from iln_stream.records.parsing import parse_json, parse_row

values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8")), values))
def test_json_is_read_as_it_is(fields):
    """Any JSON object is read; distinct keys are never taken for repeated ones."""
    assert parse_json(json.dumps(fields).encode()) == fields


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"[1]", "expected a JSON object"),
        (b"{", "Invalid JSON"),
        (None, "no value"),
        (b'{"a": 1, "a": 2}', "a: this key occurs more than once"),
        (b'{"u": {"a" : ":", "a": 2}}', "a: this key occurs more than once"),
        (b'{"a": "' + b"x" * (1 << 20) + b'"}', "at most 1,048,576"),
    ],
)
def test_malformed(payload, message):
    """What is no single object with distinct keys is malformed."""
    with pytest.raises(MalformedError, match=message):
        parse_json(payload)


def test_cells_beyond_the_header():
    """A row with too many cells is malformed: its cells may be in the wrong columns."""
    with pytest.raises(MalformedError, match="more cells than the header"):
        parse_row({"a": "1", "cells beyond the header": ["2"]})
