"""The usual forms of times, and values of typed formats as JSON would have them."""

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.records.values import plain, posix_seconds

moments = st.datetimes(
    dt.datetime(1990, 1, 1), dt.datetime(2100, 1, 1), timezones=st.just(dt.UTC)
).map(lambda moment: moment.replace(microsecond=0))


@given(moments)
def test_forms_of_one_moment_agree(moment):
    """Text, with other separators, with the year last if the order says so, and numbers of seconds
    to nanoseconds mean the same."""
    seconds = moment.timestamp()
    forms = [
        moment.isoformat(),
        moment.isoformat(" "),
        moment.isoformat().replace("+00:00", "Z"),
        moment.strftime("%Y-%m-%d %H:%M:%S"),
        moment.strftime("%Y/%m/%d %H:%M:%S"),
        moment.strftime("%Y%m%d%H%M%S"),
        moment.astimezone(dt.timezone(dt.timedelta(hours=2))).isoformat(),
    ]
    assert {posix_seconds(form) for form in forms} == {seconds}
    for order, form in (("dmy", "%d.%m.%Y %X"), ("dmy", "%d/%m/%YT%X"), ("mdy", "%m/%d/%Y, %X")):
        assert posix_seconds(moment.strftime(form), order) == seconds
    if abs(seconds) >= 1e9:  # smaller numbers of milliseconds are taken as seconds
        for unit in (1, 10**3, 10**6, 10**9):
            assert posix_seconds(int(seconds) * unit) == seconds
            assert posix_seconds(str(int(seconds) * unit)) == seconds


def test_seconds_and_dates():
    """Only digits alone are a date: a text as long as one that has a dot is a number. A date is its
    midnight in UTC."""
    for seconds in ("1767225600.123", "86400.00", "-1234567", "1234.567"):
        assert posix_seconds(seconds) == float(seconds)
    assert posix_seconds(20_260_131) == posix_seconds("202601310000") == 1_769_817_600.0
    assert posix_seconds(20_261_331) == 20_261_331.0
    assert posix_seconds("1970-01-02") == posix_seconds("19700102") == 86400.0
    assert posix_seconds("1.2.1970 9:05", "dmy") == 31 * 86400 + 9 * 3600 + 300


BERLIN = dt.timezone(dt.timedelta(hours=1))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Decimal("12345678901234567890"), 12345678901234567890),
        (Decimal("2.5"), 2.5),
        (dt.datetime(1970, 1, 1, 2), 7200.0),
        (dt.datetime(1970, 1, 1, 2, tzinfo=BERLIN), 3600.0),
        (dt.date(1970, 1, 2), 86400.0),
        (dt.time(1, 0, 2, 500_000), 3602.5),
        (dt.timedelta(minutes=1), 60.0),
        ({"a": (Decimal(1), None)}, {"a": [1, None]}),
        (b"\x00", b"\x00"),
    ],
)
def test_values_of_typed_formats(value, expected):
    """Each value has one form; a whole decimal keeps all its digits, as it may be an id."""
    found = plain(value)
    assert (found, type(found)) == (expected, type(expected))
