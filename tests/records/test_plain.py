"""`plain`: values of typed formats as JSON would have them."""

import datetime as dt
from decimal import Decimal

import pytest

from iln_stream.records.values import plain

BERLIN = dt.timezone(dt.timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal("12345678901234567890"), 12345678901234567890),
        (Decimal("2.5"), 2.5),
        (Decimal("1E+3"), 1000),
        (dt.datetime(1970, 1, 1, 2), 7200.0),
        (dt.datetime(1970, 1, 1, 2, tzinfo=BERLIN), 3600.0),
        (dt.date(1970, 1, 2), 86400.0),
        (dt.time(1, 0, 2, 500_000), 3602.5),
        (dt.timedelta(minutes=1), 60.0),
        ({"a": (Decimal(1), None)}, {"a": [1, None]}),
        (b"\x00", b"\x00"),
    ],
)
def test_values(value, expected):
    """Each value has one form; a whole decimal keeps all its digits, as it may be an id."""
    found = plain(value)
    assert (found, type(found)) == (expected, type(expected))
