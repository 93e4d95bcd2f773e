"""Fields of payloads in JSON, in rows, and in a format that a user's function reads."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.errors import SourceError
from iln_stream.records import MalformedError
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import OwnFormat, parse_json, parse_row

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
    ],
)
def test_malformed(payload, message):
    """What is no single object with distinct keys is malformed."""
    with pytest.raises(MalformedError, match=message):
        parse_json(payload)


def test_cells_beyond_the_header():
    """A row with too many cells is malformed: its cells may be in the wrong columns."""
    with pytest.raises(MalformedError, match="more cells than the header"):
        parse_row({"a": "1", None: ["2"]})


def fails(error):
    def read(payload):
        raise error

    return read


def test_fields_of_any_type():
    """What the function returns is read like fields of other formats: nested, with decimals; a
    value that is neither number nor text refuses the record by the field's name."""
    read = OwnFormat("own", lambda payload: {"shop": {"size": Decimal("1.5")}, "y": len(payload)})
    found = MappedDecoder(FieldMapping(target="y"), read)(b"abc", None)
    assert (found.x, found.y) == ({"shop.size": 1.5}, 3.0)
    decode = MappedDecoder(FieldMapping(target="y"), OwnFormat("own", lambda _: {"a": object()}))
    with pytest.raises(MalformedError, match=r"^a: expected a finite number, got <object"):
        decode(b"", None)


@pytest.mark.parametrize(
    ("read", "payload", "reason"),
    [
        (fails(KeyError("a")), b"a", r"^record: decoder = own failed: KeyError: 'a'$"),
        (lambda payload: [1], b"a", r"^record: decoder = own returned list; it has to return"),
        (dict, None, r"^the record has no value for decoder = own$"),
        (lambda _: {"a": [{"b": "\ud83d"}]}, b"a", r"^record: .* a text that is no Unicode"),
        (lambda _: {"\ud83d": 1}, b"a", r"^record: .* a text that is no Unicode"),
    ],
)
def test_records_that_are_wrong(read, payload, reason):
    """A function that fails or returns no fields refuses the record, and the reason names it."""
    with pytest.raises(MalformedError, match=reason):
        OwnFormat("own", read)(payload)


def test_the_function_can_end_the_run():
    """`SourceError` is not about the record, so it is passed on."""
    with pytest.raises(SourceError, match="no answer"):
        OwnFormat("own", fails(SourceError("no answer")))(b"a")
