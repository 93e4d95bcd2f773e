"""`OwnFormat`: records that a user's function reads."""

from decimal import Decimal

import pytest

from iln_stream.errors import SourceError
from iln_stream.records import MalformedError
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import OwnFormat


def fails(error):
    def read(payload):
        raise error

    return read


def test_fields_of_any_type():
    """What the function returns is read like fields of other formats: nested, with decimals."""
    read = OwnFormat("own", lambda payload: {"shop": {"size": Decimal("1.5")}, "y": len(payload)})
    found = MappedDecoder(FieldMapping(target="y"), read)(b"abc", None)
    assert (found.x, found.y) == ({"shop.size": 1.5}, 3.0)


@pytest.mark.parametrize(
    ("read", "payload", "reason"),
    [
        (fails(KeyError("a")), b"a", r"^record: decoder = own failed: KeyError: 'a'$"),
        (lambda payload: [1], b"a", r"^record: decoder = own returned list; it has to return"),
        (dict, None, r"^the record has no value for decoder = own$"),
    ],
)
def test_records_that_are_wrong(read, payload, reason):
    """A function that fails or returns no fields refuses the record, and the reason names it."""
    with pytest.raises(MalformedError, match=reason):
        OwnFormat("own", read)(payload)


def test_a_value_of_no_type():
    """A value that is neither number nor text refuses the record by the field's name."""
    decode = MappedDecoder(FieldMapping(target="y"), OwnFormat("own", lambda _: {"a": object()}))
    with pytest.raises(MalformedError, match=r"^a: expected a finite number, got <object"):
        decode(b"", None)


def test_the_function_can_end_the_run():
    """`SourceError` is not about the record, so it is passed on."""
    with pytest.raises(SourceError, match="no answer"):
        OwnFormat("own", fails(SourceError("no answer")))(b"a")
