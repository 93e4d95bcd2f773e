"""Forms in which people write numbers and times: each that the documents name, and refusals."""

from math import isfinite

import pytest
from forms_table import FORMS, PAGE, table
from hypothesis import example, given
from hypothesis import strategies as st

from iln_stream.records.amounts import amount
from iln_stream.records.decoding import MalformedError
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json
from iln_stream.records.times import posix_seconds, time_in
from iln_stream.records.values import Notation, as_input, check_type


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form[0])
def test_each_row_of_the_table_is_read_so(form):
    """The example of each documented form is read as the table says, by its type and settings."""
    _, example, kind, more, value = form
    assert as_input("a", example, kind, Notation(**more)) == value
    assert table() in PAGE.read_text()


@given(st.text("0123456789.,' +-()$\u20acKMk%\u00a0\u2212", max_size=14), st.sampled_from(".,"))
@example("7,33,697", ",")
def test_no_text_breaks_the_reading_of_amounts(text, decimal):
    """Whatever digits and marks stand together, they are a finite number or none."""
    found = amount(text, decimal)
    assert found is None or isfinite(found.value)


@pytest.mark.parametrize(
    "text",
    ["A1", "T0001", "12:30", "2026-01-31", "12AB34", "3E7", "1.2.3", "12 to 15", "007", "1,20",
     "3,5", "12 EUR 5", "EUR", "", "1e5x"],
)  # fmt: skip
def test_what_is_no_number_in_dress(text):
    """Codes, times, ranges and numbers with another decimal sign are no amounts."""
    assert amount(text) is None


def test_another_unit_is_refused():
    """5 km beside 300 m would be wrong in silence: only the unit of the type is read, or none."""
    assert as_input("way", "5 km", "amount in km") == 5.0
    assert as_input("way", "5", "amount in km") == as_input("way", 5, "amount in km") == 5.0
    with pytest.raises(MalformedError, match="way: expected a number, also in km, got '300 m'"):
        as_input("way", "300 m", "amount in km")
    assert amount("300 K").unit == "K"  # Kelvin, and no thousands


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [*((text, "time", 1769860800.0) for text in (
        "Jan 31, 2026 @ 12:00:00.000", "January 31, 2026 at 12:00 PM", "2026年1月31日 12时00分00秒",
        "Sat Jan 31 2026 12:00:00 GMT+0000 (Coordinated Universal Time)", "2026-01-31_12:00",
        "2026-01-31 13:00:00 +0100 CET", "2026-01-31 13:00 GMT+1", "2026/01/31(土) 12:00",
        "20260131 120000", "2026-01-31 12:00 - 13:00",
     )), ("$(1,204.5)", "amount in $", -1204.5), ("1_204", "amount", 1204.0),
     ("120 ms", "duration", 0.12), ("1:23.5", "duration", 83.5)],
)  # fmt: skip
def test_further_forms(text, kind, value):
    """What browsers, logs and people in other countries write."""
    assert as_input("a", text, kind) == value


@pytest.mark.parametrize(
    ("value", "order"),
    [*((value, "ymd") for value in (
        "31/12/2026", "31.12.26", "12/31/2026", "marble 1 2026", "may 12", "13:00 PM 2026-01-01",
        "25:00", "2026-01-01 13:00 PM", "2026-01-01 24:30", "2026-13-01", "2026-01-01 12:00 XYZ",
        "Sum 2026-01-31", "", "soon", "nan", 1e30, -9e10, 10**400, float("nan"), "1e30", "9" * 400,
        "0001-01-01T00:00:00+02:00", "9999-12-31T23:59:59-05:00",
     )), ("12/31/2026", "dmy"), ("31.12/2026", "dmy"), ("1.1.2026 noon", "dmy")],
)  # fmt: skip
def test_what_is_no_time(value, order):
    """What may be another day, no time at all, or of no year from 1 to 9999 is refused."""
    with pytest.raises(ValueError, match="expected a time"):
        posix_seconds(value, order)


@pytest.mark.parametrize(
    ("form", "text"),
    [("%Y%b%d", "2026MAY02"), ("%Y%b%d", "2026MAI02"), ("%a, %d %b %Y", "Sat, 02 May 2026"),
     ("%d %b %Y %Z", "02 Mai 2026 UTC"), ("%d. %b. %Y", "2. mai. 2026")],
)  # fmt: skip
def test_months_by_name_in_a_form(form, text):
    """The name of a month is read in any language, also without a separator; other words stay."""
    assert time_in(form)(text) == posix_seconds("2026-05-02")


def test_a_form_of_times_is_checked():
    """A value of another form is refused, and a form that is none is an error with the remedy."""
    with pytest.raises(ValueError, match="of the form %Y%m%d%H"):
        time_in("%Y%m%d%H")("2026013125")
    with pytest.raises(ValueError, match="types: at = 'time soon': a form of times is one of strp"):
        check_type("at", "time soon")
    with pytest.raises(ValueError, match="did you mean number"):
        check_type("a", "numbr")


def test_times_of_several_fields_and_durations():
    """Date and time of day make one time; a second time is the time since the first."""
    mapping = FieldMapping(
        target="y", time_field="day + at", types={"until": "time since from"}, ignore=("from",)
    )
    decode = MappedDecoder(mapping, parse_json)
    found = decode(
        b'{"day": "2026-01-31", "at": 12, "from": "2026-01-31 12:00", "until": '
        b'"2026-01-31 12:30", "y": 1.5}',
        None,
    )
    assert (found.time, found.x, found.y) == (1769860800.0, {"until": 1800.0}, 1.5)
    missing = decode(b'{"day": "2026-01-31", "at": null, "until": "2026-01-31", "y": 1}', 7.0)
    assert (missing.time, missing.x) == (7.0, {})


def test_a_number_may_mean_a_missing_value():
    """-999 in null_values is -999.0 too, as text and as a number, in inputs and labels."""
    decode = MappedDecoder(FieldMapping(target="y", null_values=("NA", "-999")), parse_json)
    found = decode(b'{"a": -999.0, "b": "-999.0", "c": 1.5, "d": [], "y": -999.0}', None)
    assert (found.x, found.y) == ({"c": 1.5}, None)


def test_a_label_in_dress_names_its_type():
    """The dead letter of a label such as $191.31 has the setting that reads it."""
    with pytest.raises(MalformedError, match=r'types = \{"price" = "amount in \$"\}'):
        MappedDecoder(FieldMapping(target="price"), parse_json)(b'{"price": "$191.31"}', None)
    decode = MappedDecoder(FieldMapping("price", types={"price": "amount in $"}), parse_json)
    assert decode(b'{"price": "$1,191.31"}', None).y == 1191.31
