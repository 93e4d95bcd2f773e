"""`MappedDecoder`: records as they are."""

import json
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iln_stream.errors import IlnWarning
from iln_stream.records import EnvelopeDecoder, Example, MalformedError
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.parsing import parse_json, parse_row
from iln_stream.records.values import FIELD_TYPES, Notation

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1)


def decoder(labels="number", typed=True, parse=parse_json, **mapping):
    return MappedDecoder(FieldMapping(**mapping), parse, labels, typed=typed)


def decoded(fields, labels="number", written=None, **mapping):
    return decoder(labels, **mapping)(json.dumps(fields).encode(), written)


@given(st.dictionaries(names, finite | st.integers(-1000, 1000) | st.booleans()), finite)
def test_flat_records_are_the_events_in_an_envelope(fields, price):
    """A flat record of numbers and booleans gives what the same event in an envelope gives."""
    fields.pop("price", None)
    envelope = EnvelopeDecoder()(json.dumps({"x": fields, "y": price}).encode(), 5.0)
    assert decoded({**fields, "price": price}, written=5.0, target="price") == envelope


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(names, finite | st.integers() | st.text() | st.none() | st.booleans()),
)
def test_any_flat_record_is_an_example_or_malformed(fields):
    """No record of plain values ends the stream, and only finite numbers get through."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IlnWarning)
        try:
            found = decoded(fields, target="y", id_field="i", time_field="t")
        except MalformedError:
            return
    for value in (found.x or {}).values():
        assert type(value) is float
        assert abs(value) < float("inf")


def test_roles():
    """Label, id and time are not inputs; ids are text, times POSIX seconds."""
    fields = {"a": 1, "price": 2, "key": 17, "at": "1970-01-01T00:01:00Z", "note": "x"}
    roles = {"target": "price", "id_field": "key", "time_field": "at", "ignore": ["note"]}
    assert decoded(fields, **roles) == Example({"a": 1.0}, 2.0, "17", 60.0)


def test_nested_fields_by_path():
    """Dotted paths name nested fields, also as label; a name includes all below it."""
    fields = {"user": {"age": 3, "home": {"x": 1}}, "sale": {"price": 9}, "meta": {"v": [1, 2]}}
    found = decoded(fields, target="sale.price", ignore=["meta"])
    assert found.x == {"user.age": 3.0, "user.home.x": 1.0}
    assert found.y == 9.0


def test_lists():
    """A list of numbers has an input for each position, a list of texts one for each text."""
    found = decoded({"spot": [1, 2.5], "tags": ["new", "red", "new"], "y": 1}, target="y")
    assert found.x == {"spot.0": 1.0, "spot.1": 2.5, "tags=new": 1.0, "tags=red": 1.0}


def test_a_long_list_can_be_ignored():
    """A list too long for inputs is refused by name, unless it is ignored."""
    fields = {"pixels": [0] * 5_000, "a": 1, "y": 1}
    with pytest.raises(MalformedError, match=r"^pixels: a long list"):
        decoded(fields, target="y")
    assert decoded(fields, target="y", ignore=["pixels"]).x == {"a": 1.0}


def test_two_fields_of_one_path():
    """Fields that would hide one another are refused, not merged."""
    for fields in (
        {"a": {"b": 1}, "a.b": 2}, {"a.b": True, "a": {"b": 5}}, {"a.b": 1.0, "a": {"b": True}},
    ):  # fmt: skip
        with pytest.raises(MalformedError, match=r"^a\.b: two fields"):
            decoded(fields, target="y")
    for fields in ({"a=new": True, "a": ["new"]}, {"a": ["new"], "a=new": True}):
        with pytest.raises(MalformedError, match=r"^a=new: two fields"):
            decoded(fields, target="y")


@pytest.mark.parametrize("feature", ["hour", "since_last"])
def test_a_field_that_a_time_feature_would_hide(feature):
    """The record's own value is not replaced: it is refused, with both names, unless ignored."""
    name = {"hour": "time.hour.sin", "since_last": "time.since_last"}[feature]
    fields = {name: 7.0, "a": 1.0, "y": 1}
    with pytest.raises(MalformedError, match=rf"^{name}: .* the time feature {feature} makes"):
        decoded(fields, written=5.0, target="y", time_features=[feature])
    x = decoded(fields, written=5.0, target="y", time_features=[feature], ignore=[name]).x
    assert x["a"] == 1.0


@pytest.mark.parametrize("kind", FIELD_TYPES)
def test_texts_in_a_list_are_indicators_whatever_their_type(kind):
    """The type of a list says what its texts are; each still has one input, which is 1."""
    x = decoded({"tags": ["new"], "y": 1}, target="y", types={"tags": kind}).x
    assert x == {"tags=new": 1.0}
    assert type(x["tags=new"]) is float


def test_numbers_as_text_are_numbers_and_counted():
    """Text that is a number becomes one, with a warning that names the field, once, and a count."""
    decode = decoder(target="price")
    payload = b'{"temp": "21.5", "sky": "clear", "up": "true", "price": "3"}'
    with pytest.warns(IlnWarning) as caught:
        assert decode(payload, None).x == {"temp": 21.5, "sky=clear": 1.0, "up": 1.0}
    assert [str(each.message).split(":")[0] for each in caught] == ["temp", "up"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decode(payload, None).y == 3.0
    coerced, missing = decode.metrics()
    assert coerced.read() == {"number": 2, "boolean": 2}
    assert missing.read() == 0


def test_types_decide():
    """A type is stronger than how a value looks, and a matching one causes no warning."""
    types = {"zip": "category", "temp": "number", "seen*": "time"}
    fields = {"zip": 8001, "temp": "21.5", "seen_at": "1970-01-02", "y": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = decoded(fields, target="y", types=types)
    assert found.x == {"zip=8001": 1.0, "temp": 21.5, "seen_at": 86400.0}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("warm", "number"),
        ("1e999", "auto"),
        ("inf", "auto"),
        (2, "boolean"),
        ("soon", "time"),
        (True, "time"),
    ],
)
def test_a_value_of_another_type_is_malformed(value, kind):
    """The reason begins with the field's name and shows the value."""
    with pytest.raises(MalformedError, match=r"^a: expected .*got "):
        decoded({"a": value, "y": 1}, target="y", types={"a": kind})


def test_missing_values_are_left_out_and_counted():
    """Null, NaN and the texts in null_values are missing: neither 0 nor a category."""
    decode = decoder(target="y")
    found = decode(b'{"a": null, "b": NaN, "c": "NA", "d": "", "e": 1, "y": null}', None)
    assert found == Example({"e": 1.0}, None, None, None)
    assert decode.n_missing == 4
    assert decoded({"a": "NA", "y": 1}, target="y", null_values=["-1"]).x == {"a=NA": 1.0}


def test_a_record_without_inputs_is_a_label():
    """Id and label alone are the label of an earlier event, as in the envelope."""
    found = decoded({"key": "a", "y": 2}, target="y", id_field="key")
    assert found == Example(None, 2.0, "a", None)


def test_a_record_whose_inputs_are_all_missing_is_a_label():
    """So late labels may come in a table of the same columns; time features make them no event."""
    roles = {"target": "y", "id_field": "key", "time_features": ["hour"]}
    rows = decoder(typed=False, parse=parse_row, **roles)
    fields = decoder(**roles)
    label = Example(None, 2.0, "a", 5.0)
    assert rows({"key": "a", "temp": "", "sky": "NA", "y": "2"}, 5.0) == label
    assert fields(b'{"key": "a", "temp": null, "y": 2}', 5.0) == label
    assert rows.n_missing == fields.n_missing == 0
    assert fields.envelope(b'{"key": "a", "temp": null, "y": 2}') == {"y": 2.0, "id": "a"}
    event = fields(b'{"key": "a", "temp": null, "y": null}', 5.0)
    assert event.x.keys() == {"time.hour.sin", "time.hour.cos"}
    assert fields.n_missing == 1


@pytest.mark.parametrize(
    ("sent", "label"),
    [
        (True, True), (3, 3.0), (2**53 - 1, 2.0**53 - 1), (2**53 + 1, "9007199254740993"),
        ("cat", "cat"), ("false", "false"), ("3", "3"), ("01067", "01067"), ("1e3", "1e3"),
        ("inf", "inf"),
    ],
)  # fmt: skip
def test_classes(sent, label):
    """Booleans, texts and whole numbers are classes; none becomes another one."""
    y = decoded({"a": 1, "y": sent}, "class", target="y").y
    assert (y, type(y)) == (label, type(label))


@pytest.mark.parametrize(
    ("sent", "label"),
    [
        ("false", False), ("3", 3.0), (" -3", -3.0), ("0", 0.0), ("01067", "01067"), ("-0", "-0"),
        ("+3", "+3"), ("1e3", "1e3"), ("2.5", "2.5"), ("9007199254740991", 2.0**53 - 1),
        ("9007199254740993", "9007199254740993"), ("9" * 5_000, "9" * 5_000), ("inf", "inf"),
    ],
)  # fmt: skip
def test_classes_of_cells(sent, label):
    """In CSV a class is a number only if this number would be written so."""
    decode = decoder("class", typed=False, parse=parse_row, target="y")
    y = decode({"a": "1", "y": sent}, None).y
    assert (y, type(y)) == (label, type(label))


@pytest.mark.parametrize(
    ("kind", "sent", "label"),
    [
        ("category", "3", "3"), ("category", 3, "3"), ("category", 3.0, "3"),
        ("category", True, "true"), ("number", "03", 3.0), ("boolean", "1", True),
    ],
)  # fmt: skip
def test_a_type_decides_on_classes(kind, sent, label):
    """The type of the label's field counts as it does for an input."""
    for typed, parse in ((True, parse_json), (False, parse_row)):
        decode = decoder("class", typed=typed, parse=parse, target="y", types={"y": kind})
        y = decode({"a": 1.0, "y": sent}, None).y
        assert (y, type(y)) == (label, type(label))


def test_a_label_that_is_no_number():
    """A regression's label in words is malformed, with the field's name."""
    with pytest.raises(MalformedError, match=r"^price: expected a number, got 'much'") as said:
        decoded({"a": 1, "price": "much"}, target="price")
    assert str(said.value).endswith("if it is a class, set learner = infinite-layer-classifier")
    with pytest.raises(MalformedError, match=r"^price: expected a number, got True.*classifier$"):
        decoded({"a": 1, "price": True}, target="price")


def test_rows_of_text():
    """Cells of a CSV row are typed by their looks, without warnings; short rows have no value."""
    decode = decoder(typed=False, parse=parse_row, target="y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = decode({"a": " 2 ", "b": "1_000", "c": "", "d": "True", "e": None, "y": "5"}, None)
    assert found == Example({"a": 2.0, "b=1_000": 1.0, "d": 1.0}, 5.0, None, None)


def test_time_features_go_on_after_a_restart():
    """The time since the last event is the same for a decoder restored from its state."""
    first = decoder(target="y", time_field="t", time_features=["since_last", "hour"])
    first.accept(first(b'{"t": 100, "y": 1}', None).time)
    second = decoder(target="y", time_field="t", time_features=["since_last", "hour"])
    second.restore(first.state())
    payload = b'{"t": 107, "y": 1}'
    example = first(payload, None)
    assert second(payload, None) == example
    assert example.x == {**example.x, "time.since_last": 7.0}
    first.accept(example.time)
    assert first(b'{"t": 110, "y": 1}', None).x["time.since_last"] == 3.0


def test_lags_of_accepted_records():
    """Lags and means are of accepted records, also of the target's, and go on after a restart."""
    mapping = {
        "target": "n", "target_is_input": True, "lags": {"n": [1], "t": [1, 2]},
        "rolling_means": {"n": [2]},
    }  # fmt: skip
    first, second = decoder(**mapping), decoder(**mapping)
    for payload in (b'{"n": 1, "t": 5}', b'{"n": null, "t": 6}'):
        first(b'{"n": 9, "t": 9}', None)  # a repeat, or a record that fails
        first.accept(first(payload, None).time)
    second.restore(first.state())
    for decode in (first, second):
        found = decode(b'{"n": 3, "t": 7}', None)
        assert found.x == {"n": 3.0, "t": 7.0, "t.lag_1": 6.0, "t.lag_2": 5.0, "n.mean_2": 3.0}
        assert found.y == 3.0


def test_a_field_that_a_lag_would_hide():
    """A record with a field of a lag's name is refused, as one of both would be lost."""
    with pytest.raises(MalformedError, match=r"t\.lag_1: .* the setting lags makes"):
        decoded({"t": {"lag_1": 1}, "y": 2}, target="y", lags={"t": [1]})


def test_time_of_writing_is_the_default():
    """Without a time of its own, or with a missing one, an event has the record's time."""
    assert decoded({"a": 1, "y": 1}, written=7.0, target="y").time == 7.0
    assert decoded({"t": None, "y": 1}, written=7.0, target="y", time_field="t").time == 7.0


@pytest.mark.parametrize("time", [1e30, 1e12, -1e11, float("nan")])
def test_a_time_that_no_date_has(time):
    """It makes a dead letter, as any wrong value; the run does not blame the learner."""
    with pytest.raises(MalformedError, match=r"^time: .* is outside of the years 1 to 9999"):
        decoded({"a": 1.0, "y": 1.0}, written=time, target="y", time_features=["hour"])


def test_many_forms_of_records_do_not_grow_memory():
    """What is remembered about records' names is bounded, and never wrong."""
    decode = decoder(target="y")
    for number in range(5_000):
        assert decode(b'{"a%d": 1, "y": 2}' % number, None).x == {f"a{number}": 1.0}
    assert len(decode._plans) <= 1_000


@pytest.mark.parametrize(("n_records", "n_names", "length"), [(30, 20_000, 10), (20, 10, 90_000)])
def test_wide_records_do_not_grow_memory(n_records, n_names, length):
    """Many names, or long ones, are remembered only up to a number of names and characters."""
    decode = decoder(target="y")
    for number in range(n_records):
        fields = {f"{number}_{i}".ljust(length, "_"): 1.0 for i in range(n_names)}
        assert decode({**fields, "y": 2.0}, None).x == fields
    kept = [name for plan in decode._plans for name in plan]
    assert n_names <= len(kept) <= 100_000
    assert sum(map(len, kept)) <= 10_000_000


GERMAN = Notation(decimal=",", date_order="dmy")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("21,5", 21.5),
        ("-1.234.567,25", -1234567.25),
        ("3", 3.0),
        ("1.250", 1250.0),
        ("2,5e3", 2500.0),
    ],
)
def test_decimal_commas(text, number):
    """With decimal = ',' numbers, labels, times and weights of the country are read."""
    decode = decoder(
        typed=False, parse=parse_row, target="y", time_field="at", weight_field="w",
        notation=GERMAN,
    )  # fmt: skip
    found = decode({"a": text, "y": text, "at": "02.01.1970", "w": "1.000,5"}, None)
    assert (found.x, found.y, found.time) == ({"a": number}, number, 86400.0)
    assert found.weight == 1000.5


@pytest.mark.parametrize("text", ["1.23,4", "1,2,3", ",", ".", ""])
def test_no_number_with_a_comma(text):
    """With decimal = ',' a text that is no such number is refused, not read as another one."""
    decode = decoder(
        typed=False, parse=parse_row, target="y", types={"a": "number"}, null_values=(),
        notation=GERMAN,
    )  # fmt: skip
    with pytest.raises(MalformedError, match=r"^a: expected a finite number"):
        decode({"a": text, "y": "1"}, None)


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("text", ["21,5", "1.250,00"])
def test_a_decimal_comma_that_nobody_announced(text, typed):
    """Such a text is not silently a category: the error names both remedies."""
    decode = decoder(typed=typed, parse=parse_row, target="y")
    with pytest.raises(MalformedError, match=r'^a: .*set decimal = ",".*decoder.*type category'):
        decode({"a": text, "y": 1.0}, None)
    category = decoder(typed=typed, parse=parse_row, target="y", types={"a": "category"})
    assert category({"a": text, "y": 1.0}, None).x == {f"a={text}": 1.0}


@pytest.mark.parametrize(
    "record",
    [
        {"x": {"temp": 20.5}, "y": 5, "id": "q1"},
        {"id": "q2", "y": 4},
        {"id": "q2", "y": 4, "timestamp": "2026-01-01T00:00:00Z", "weight": 1},
        {"x": {"temp": 20.5}, "id": "q3"},
    ],
)
def test_an_event_of_the_api_among_other_records(record):
    """An event or label of the API's form, whose label nobody would see, is refused with the
    remedy."""
    with pytest.raises(MalformedError, match=r"\{x, y, id\}.*target = 'sales'"):
        decoded(record, target="sales", id_field="sale")


@pytest.mark.parametrize(
    ("record", "mapping"),
    [
        ({"x": {"temp": 20.5}, "y": 5, "id": "q1"}, {"target": "y", "id_field": "id"}),
        ({"x": 3.0, "y": 4.0}, {"target": "z"}),
        ({"x": {"temp": 20.5}, "id": "q1"}, {"target": "sales", "id_field": "id"}),
        ({"x": {"temp": 20.5}, "y": 5, "z": 1}, {"target": "sales"}),
        ({"y": 4, "id": "a"}, {"target": "sales", "weight_field": "y"}),
    ],
)
def test_records_that_only_look_like_events_of_the_api(record, mapping):
    """Records with such names whose roles are known, or with others, are read as before."""
    assert decoded(record, **mapping).x is not None


@pytest.mark.parametrize("text", ["21.5", "-1.25", " 3.1416"])
def test_a_decimal_point_among_commas(text):
    """With decimal = ',' such a text is not silently a category either."""
    decode = decoder(typed=False, parse=parse_row, target="y", notation=GERMAN)
    with pytest.raises(MalformedError, match=r"^a: .*decimal point.*decoder.*type category"):
        decode({"a": text, "y": "1"}, None)
    category = decoder(
        typed=False, parse=parse_row, target="y", types={"a": "category"}, notation=GERMAN
    )
    assert category({"a": text, "y": "1"}, None).x == {f"a={text}": 1.0}


def test_a_date_in_another_order():
    """A date with the year at its end is refused with the setting that reads it."""
    with pytest.raises(MalformedError, match=r"got '31\.12\.2026'; set date_order to dmy"):
        decoded({"at": "31.12.2026", "y": 1}, target="y", time_field="at")


@pytest.mark.parametrize("code", [8001, 8001.0, "8001"])
def test_codes_are_one_category(code):
    """A code is the same category as number and as text; text keeps its leading zeros."""
    decode = decoder(target="y", types={"zip": "category"})
    assert decode({"zip": code, "y": 1.0}, None).x == {"zip=8001": 1.0}
    assert decode({"zip": "01067", "y": 1.0}, None).x == {"zip=01067": 1.0}
    assert not decode.n_coerced
