"""`LabelDecoder`: labels of a log of their own."""

import warnings

import pytest

from iln_stream.errors import IlnWarning
from iln_stream.records import Example, MalformedError
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import LabelDecoder
from iln_stream.records.parsing import parse_json

MAPPING = FieldMapping(target="result.minutes", id_field="order", time_field="done")


def test_other_fields_are_ignored():
    """Only id, label, time and weight are read; other fields may have any value."""
    decode = LabelDecoder(MAPPING, parse_json)
    payload = b'{"order": 7, "result": {"minutes": "31", "by": [[]]}, "done": 60, "x": {"a": {}}}'
    assert decode(payload, 90.0) == Example(None, 31.0, "7", 60.0, None)


def test_classes():
    """The label of a classification is a class."""
    decode = LabelDecoder(FieldMapping(target="paid", id_field="id"), parse_json, "class")
    assert decode(b'{"id": "a", "paid": true}', None).y is True


def test_weight():
    """A label may have a weight."""
    mapping = FieldMapping(target="y", id_field="id", weight_field="w")
    assert LabelDecoder(mapping, parse_json)(b'{"id": "a", "y": 1, "w": 2}', None).weight == 2.0


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b'{"result": {"minutes": 3}}', "order: missing or null; .* has the id in this field"),
        (b'{"order": null, "result": {"minutes": 3}}', "order: missing or null"),
        (b'{"order": 1}', "result.minutes: missing or null; .* has the label in this field"),
        (b'{"order": 1, "result": {"minutes": "NA"}}', "result.minutes: missing or null"),
        (b'{"order": 1, "result": {"minutes": "soon"}}', "result.minutes: expected a number"),
        (b"[]", "expected a JSON object"),
        (None, "no value"),
    ],
)
def test_records_that_are_no_labels(payload, message):
    """A record without id or label is malformed; the error names the field."""
    with pytest.raises(MalformedError, match=message):
        LabelDecoder(MAPPING, parse_json)(payload, None)


def test_unseen_fields():
    """A field that no record has is warned of as one of the labels', unless it is optional."""
    mapping = FieldMapping(target="y", id_field="id", time_field="at", weight_field="w")
    decode = LabelDecoder(mapping, parse_json, optional=("w",))
    decode(b'{"id": "a", "y": 1, "done": 3}', None)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", IlnWarning)
        decode.warn_of_unseen()
    (warned,) = given
    assert str(warned.message).startswith("labels: time_field = 'at': no record of 1 has")
    assert "so the time of a label is that of its record" in str(warned.message)


def test_the_usual_name_is_not_taken_for_another():
    """If no setting names the label, it is `y`; records whose label has another name are shown."""
    decode = LabelDecoder(FieldMapping(target="y", id_field="id"), parse_json)
    with pytest.raises(MalformedError):
        decode(b'{"id": "a", "by": "Kim", "minutes": 31}', None)
    with pytest.warns(IlnWarning, match="correct target: the records have id, by, minutes"):
        decode.warn_of_unseen()
