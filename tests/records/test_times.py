"""`posix_seconds`: the usual forms of times."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iln_stream.records.values import posix_seconds

moments = st.datetimes(
    dt.datetime(1990, 1, 1), dt.datetime(2100, 1, 1), timezones=st.just(dt.UTC)
).map(lambda moment: moment.replace(microsecond=0))


@given(moments)
def test_forms_of_one_moment_agree(moment):
    """Text, with other separators, and numbers of seconds to nanoseconds mean the same."""
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
    if abs(seconds) >= 1e9:  # smaller numbers of milliseconds are taken as seconds
        for unit in (1, 10**3, 10**6, 10**9):
            assert posix_seconds(int(seconds) * unit) == seconds
            assert posix_seconds(str(int(seconds) * unit)) == seconds


@pytest.mark.parametrize("text", ["", "soon", "31.12.2026", "12/31/2026", "2026-13-01", "nan"])
def test_ambiguous_or_no_times(text):
    """A date whose day and month could be swapped is refused, as is text that is no time."""
    with pytest.raises(ValueError, match="expected a time"):
        posix_seconds(text)


@pytest.mark.parametrize(
    "value",
    [1e30, -9e10, 10**400, float("nan"), "1e30", "9" * 400, "0001-01-01T00:00:00+02:00",
     "9999-12-31T23:59:59-05:00"],
)  # fmt: skip
def test_times_that_no_date_has(value):
    """A time outside the years 1 to 9999 is refused, since no date could be made of it."""
    with pytest.raises(ValueError, match="expected a time"):
        posix_seconds(value)


def test_seconds_with_a_fraction():
    """Only digits alone are a date: a text as long as one that has a dot is a number."""
    for seconds in ("1767225600.123", "86400.00", "-1234567", "1234.567"):
        assert posix_seconds(seconds) == float(seconds)
    assert posix_seconds(20_260_131) == 20_260_131.0


def test_dates():
    """A date is its midnight in UTC."""
    assert posix_seconds("1970-01-02") == posix_seconds("19700102") == 86400.0
    assert posix_seconds("1970/01/02") == 86400.0


@given(moments)
def test_dates_with_the_year_last(moment):
    """With an order, dates with dots, slashes and hyphens are the moments that they state."""
    moment = moment.replace(second=0)
    seconds = moment.timestamp()
    for order, form in (
        ("dmy", "%d.%m.%Y %H:%M"),
        ("dmy", "%d/%m/%YT%H:%M"),
        ("mdy", "%m/%d/%Y, %H:%M"),
    ):
        assert posix_seconds(moment.strftime(form), order) == seconds
    day = moment.replace(hour=0, minute=0)
    assert posix_seconds(f"{day.day}-{day.month}-{day.year}", "dmy") == day.timestamp()
    assert posix_seconds(moment.isoformat(), "dmy") == seconds


@pytest.mark.parametrize(
    ("text", "order"),
    [("31.12.2026", "ymd"), ("12/31/2026", "dmy"), ("31.12.26", "dmy"), ("31.12/2026", "dmy"),
     ("1.1.2026 noon", "dmy")],
)  # fmt: skip
def test_dates_in_another_order(text, order):
    """A date that does not fit the order is refused instead of read as another day."""
    with pytest.raises(ValueError, match="expected a time"):
        posix_seconds(text, order)


def test_hours_of_one_digit():
    """Clock times without a leading zero are read."""
    assert posix_seconds("1.2.1970 9:05", "dmy") == 31 * 86400 + 9 * 3600 + 300
