"""`RecordTime`: when an event happened, from its record."""

import pytest

from iln_stream.records.mapped import RecordTime
from iln_stream.records.parsing import OwnFormat, parse_json


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (b'{"sale": {"at": 60}}', 60.0),
        (b'{"sale.at": "1970-01-01T00:01:00Z"}', 60.0),
        (b'{"sale": {"at": 99999}}', 90.0),
        (b'{"sale": {"at": null}}', 90.0),
        (b'{"sale": {"at": "NA"}}', 90.0),
        (b'{"sale": {"at": "tomorrow"}}', 90.0),
        (b'{"sale": {"at": {}}}', 90.0),
        (b'{"at": ', 90.0),
        (b"{}", 90.0),
        (None, 90.0),
    ],
)
def test_time_of_a_record(payload, expected):
    """A record's own time counts, if it is valid and not after the record was written."""
    assert RecordTime("sale.at", parse_json)(payload, 90.0) == expected


def test_unknown_time_of_writing():
    """Without a time of writing there may be the record's own, or none."""
    time_of = RecordTime("at", parse_json)
    assert (time_of(b'{"at": 60}', None), time_of(b"{}", None)) == (60.0, None)


def test_a_format_of_the_users():
    """Payloads in another format are parsed, too."""
    parse = OwnFormat("pairs", lambda payload: {"at": float(payload)})
    assert RecordTime("at", parse)(b"60", 90.0) == 60.0
