"""Settings of fields that no record has are warned of."""

import json
import warnings

import pytest

from iln_stream.errors import IlnWarning
from iln_stream.records.fields import N_RECORDS, FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json

RECORD = {"id": "a", "user": {"zip": "N1"}, "temp": 1.5, "price": 2.0}


def decoder(labelled=True, **mapping):
    return MappedDecoder(FieldMapping(**mapping), parse_json, labelled=labelled)


def warned(decode, records, written=None, ends=True):
    """Return the warnings of a decoder that reads records."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        for record in records:
            decode(json.dumps(record).encode(), written)
        if ends:
            decode.warn_of_unseen()
    assert all(each.category is IlnWarning for each in given)
    return [str(each.message) for each in given]


@pytest.mark.parametrize(
    ("setting", "value", "name", "meant"),
    [
        ("target", "Price", "Price", "did you mean 'price'?"),
        ("features", ("temp", "temps*"), "temps*", "did you mean 'temp'?"),
        ("ignore", ("zip",), "zip", "did you mean 'user.zip'?"),
        ("id_field", "idd", "idd", "did you mean 'id'?"),
        ("time_field", "when", "when", "correct time_field: the records have id, user.zip, temp,"),
        ("weight_field", "prize", "prize", "did you mean 'price'?"),
        ("types", {"tmp": "number"}, "tmp", "did you mean 'temp'?"),
        ("lags", {"tmp": [1]}, "tmp", "did you mean 'temp'?"),
        ("rolling_means", {"tmp": [1]}, "tmp", "did you mean 'temp'?"),
    ],
)
def test_each_setting(setting, value, name, meant):
    """A name or pattern that matches no field is warned of once, with the field that is meant."""
    (text,) = warned(decoder(**{setting: value}), [RECORD] * 3)
    assert text.startswith(f"{setting} = {name!r}: no record of 3 has such a field")
    assert meant in text


def test_label():
    """A target that does not occur is a stream without labels, and the warning says so."""
    (text,) = warned(decoder(target="Price"), [RECORD])
    assert "no record has a label and nothing is learned" in text


def test_all_match():
    """Nothing is warned of if each name occurs in some record: nested, in a list, in a pattern."""
    records = [RECORD, {"price": 1.0, "at": 5, "tags": ["new"]}]
    decode = decoder(
        target="price", features=("user", "te*", "tags"), ignore=("user.zip",), id_field="id",
        time_field="at", types={"tags": "category", "price": "number"}, time_features=("hour",),
    )  # fmt: skip
    assert warned(decode, records) == []


def test_first_records():
    """The warning comes after the first 1,000 records, not before, and not again at the end."""
    decode = decoder(target="Price")
    assert warned(decode, [RECORD] * (N_RECORDS - 1), ends=False) == []
    (text,) = warned(decode, [RECORD] * N_RECORDS)
    assert "no record of the first 1,000 has" in text


def test_dead_letters_count():
    """Fields of records that become dead letters have occurred."""
    decode = decoder(target="price", types={"temp": "number"})
    with pytest.raises(ValueError, match="temp"):
        decode(b'{"temp": "x", "price": 1}', None)
    assert warned(decode, []) == []


def test_time_features():
    """Time features of events without a time are warned of; the record's time is one."""
    (text,) = warned(decoder(time_features=("hour", "weekday")), [RECORD])
    assert text.startswith("time_features = 'hour,weekday': no record of 1 has a time")
    assert "time_field" in text
    assert warned(decoder(time_features=("hour",)), [RECORD], written=60.0) == []


def test_records_to_predict():
    """Records to predict need no label, and no type of it; other fields are checked."""
    given = {"target": "y", "types": {"y": "number", "tmp": "number"}, "weight_field": "w"}
    (text,) = warned(decoder(labelled=False, **given), [RECORD])
    assert text.startswith("types = 'tmp'")


def test_no_records():
    """A stream without records says nothing about their fields."""
    assert warned(decoder(target="price"), []) == []
