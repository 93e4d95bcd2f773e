"""Records as they are: events, labels of a log of their own, and times."""

import json
import warnings

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iln_stream.errors import IlnWarning
from iln_stream.records import EnvelopeDecoder, Example, MalformedError
from iln_stream.records.decoding import MOST_INPUTS
from iln_stream.records.fields import N_RECORDS, FieldMapping
from iln_stream.records.mapped import LabelDecoder, MappedDecoder, RecordTime
from iln_stream.records.parsing import parse_json, parse_row
from iln_stream.records.values import FIELD_TYPES, Notation

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)
names = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1)


def decoder(labels="number", typed=True, parse=parse_json, labelled=True, **mapping):
    return MappedDecoder(FieldMapping(**mapping), parse, labels, typed=typed, labelled=labelled)


def decoded(fields, labels="number", written=None, **mapping):
    return decoder(labels, **mapping)(json.dumps(fields).encode(), written)


@given(st.dictionaries(names, finite | st.integers(-1000, 1000) | st.booleans()), finite)
def test_flat_records_are_the_events_in_an_envelope(fields, price):
    """A flat record of numbers and booleans gives what the same event in an envelope gives."""
    fields.pop("price", None)
    envelope = EnvelopeDecoder()(json.dumps({"x": fields, "y": price}).encode(), 5.0)
    assert decoded({**fields, "price": price}, written=5.0, target="price") == envelope


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(names, finite | st.integers() | st.text() | st.none() | st.booleans()))
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


@pytest.mark.parametrize(
    "fields", [{"a": {"b": 1}, "a.b": 2}, {"a.b": 1.0, "a": {"b": True}}, {"a=b": True, "a": ["b"]}]
)
def test_two_fields_of_one_path(fields):
    """Fields that would hide one another are refused, not merged."""
    with pytest.raises(MalformedError, match=r"^a[.=]b: two fields"):
        decoded(fields, target="y")


@pytest.mark.parametrize(
    ("name", "mapping", "makes"),
    [
        ("time.hour.sin", {"time_features": ["hour"]}, "time_features makes"),
        ("time.since_last", {"time_features": ["since_last"]}, "time_features makes"),
        ("a.lag_1", {"lags": {"a": [1]}}, "the setting lags makes"),
    ],
)
def test_a_field_that_a_made_input_would_hide(name, mapping, makes):
    """The record's own value is not replaced: it is refused, with both names, unless ignored."""
    fields = {name: 7.0, "a": 1.0, "y": 1}
    with pytest.raises(MalformedError, match=rf"^{name}: .*{makes}"):
        decoded(fields, written=5.0, target="y", **mapping)
    assert decoded(fields, written=5.0, target="y", **mapping, ignore=[name]).x["a"] == 1.0


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
    assert coerced.read() == {"text_as_number": 2, "text_as_boolean": 2}
    assert missing.read() == 0


@pytest.mark.parametrize(
    ("value", "kind"), [("warm", "number"), ("1e999", "auto"), (2, "boolean"), (True, "time")]
)
def test_a_value_of_another_type_is_malformed(value, kind):
    """The reason begins with the field's name and shows the value."""
    with pytest.raises(MalformedError, match=r"^a: expected .*got "):
        decoded({"a": value, "y": 1}, target="y", types={"a": kind})


def test_missing_values_are_left_out_and_counted():
    """Null, NaN and the texts in null_values are missing: neither 0 nor a category. A field that a
    record does not have is not counted."""
    decode = decoder(target="y")
    found = decode(b'{"a": null, "b": NaN, "c": "NA", "d": "", "e": 1, "y": null}', None)
    assert found == Example({"e": 1.0}, None, None, None)
    decode(b'{"e": 1, "y": 2}', None)
    assert decode.n_missing == 4
    assert decoded({"a": "NA", "y": 1}, target="y", null_values=["-1"]).x == {"a=NA": 1.0}


def test_a_record_whose_inputs_are_all_missing_is_a_label():
    """So late labels may come in a table of the same columns; time features make them no event."""
    roles = {"target": "y", "id_field": "key", "time_features": ["hour"]}
    rows = decoder(typed=False, parse=parse_row, **roles)
    fields = decoder(**roles)
    label = Example(None, 2.0, "a", 5.0)
    assert rows({"key": "a", "temp": "", "sky": "NA", "y": "2"}, 5.0) == label
    assert fields(b'{"key": "a", "temp": null, "y": 2}', 5.0) == label
    assert fields(b'{"key": "a", "y": 2}', 5.0) == label
    assert rows.n_missing == fields.n_missing == 0
    assert fields.envelope(b'{"key": "a", "temp": null, "y": 2}') == {"y": 2.0, "id": "a"}
    event = fields(b'{"key": "a", "temp": null, "y": null}', 5.0)
    assert event.x.keys() == {"time.hour.sin", "time.hour.cos"}
    assert fields.n_missing == 1


@pytest.mark.parametrize(
    ("sent", "label"),
    [
        (True, True), (3, 3.0), (2**53 - 1, 2.0**53 - 1), (2**53 + 1, "9007199254740993"),
        ("false", "false"), ("3", "3"), ("01067", "01067"),
    ],
)  # fmt: skip
def test_classes(sent, label):
    """Booleans, texts and whole numbers are classes; none becomes another one."""
    y = decoded({"a": 1, "y": sent}, "class", target="y").y
    assert (y, type(y)) == (label, type(label))


@pytest.mark.parametrize(
    ("sent", "label"),
    [
        ("false", False), (" -3", -3.0), ("01067", "01067"), ("-0", "-0"), ("+3", "+3"),
        ("1e3", "1e3"), ("2.5", "2.5"), ("9007199254740991", 2.0**53 - 1),
        ("9007199254740993", "9007199254740993"), ("9" * 5_000, "9" * 5_000), ("inf", "inf"),
    ],
)  # fmt: skip
def test_classes_of_cells(sent, label):
    """In CSV a class is a number only if this number would be written so."""
    y = decoder("class", typed=False, parse=parse_row, target="y")({"a": "1", "y": sent}, None).y
    assert (y, type(y)) == (label, type(label))


def test_types_decide():
    """A type is stronger than how a value looks, also for the label; a matching one causes no
    warning."""
    types = {"zip": "category", "temp": "number", "seen*": "time", "y": "category"}
    fields = {"zip": 8001, "temp": "21.5", "seen_at": "1970-01-02", "y": 3.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = decoded(fields, "class", target="y", types=types)
    assert found.x == {"zip=8001": 1.0, "temp": 21.5, "seen_at": 86400.0}
    assert found.y == "3"
    row = decoder("class", typed=False, parse=parse_row, target="y", types={"y": "boolean"})
    assert row({"a": "1", "y": "1"}, None).y is True


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
        found = decode({"a": " 2 ", "b": "1_000", "c": "", "d": "True", "y": "5"}, None)
    assert found == Example({"a": 2.0, "b=1_000": 1.0, "d": 1.0}, 5.0, None, None)
    with pytest.warns(IlnWarning, match="fewer cells than the header"):
        assert decode({"a": "2", "y": None}, None).y is None


@pytest.mark.parametrize(
    "odd",
    [
        *("1", " 2 ", "-3.5", "+1", ".5", "1.", "007", "1e5", "1E-400", "1e400", "1_000", "nan"),
        *(
            "9" * 400,
            "inf",
            "-0",
            "\u0663",
            "0x1F",
            "1,5",
            "",
            "True",
            "\u22121",
            "1 0",
            "1e308",
            "?",
        ),
    ],
)
def test_a_row_at_once_is_as_cell_by_cell(odd):
    """A row of numbers is read at once, with what its cells mean one by one, as they do in formats
    that have numbers beside texts."""

    def outcome(row, typed):
        try:
            return decoder(typed=typed, parse=parse_row, target="y")(row, None)
        except MalformedError as error:
            return str(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IlnWarning)
        for row in ({"a": odd, "y": "1"}, {"a": "-1e-07", "b": odd, "c": "1e308"}, {"y": odd}):
            assert outcome(row, typed=False) == outcome(row, typed=True)


@pytest.mark.parametrize("at", [2026013112, 202653, 2026.1, 20264])
def test_a_date_that_would_be_seconds(at):
    """Digits that are a date and an hour, a week or a quarter are read as seconds: it is said."""
    decode = decoder(target="y", time_field="at")
    with pytest.warns(IlnWarning, match=f"at: {at} is read as a time since 1970; .* %Y%m%d%H"):
        assert decode(b'{"at": %r, "y": 1}' % at, None).time == at


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


def test_time_of_writing_is_the_default():
    """Without a time of its own, or with a missing one, an event has the record's time."""
    assert decoded({"a": 1, "y": 1}, written=7.0, target="y").time == 7.0
    assert decoded({"t": None, "y": 1}, written=7.0, target="y", time_field="t").time == 7.0


@pytest.mark.parametrize("time", [1e30, -1e11, float("nan")])
def test_a_time_that_no_date_has(time):
    """It makes a dead letter, as any wrong value; the run does not blame the learner."""
    with pytest.raises(MalformedError, match=r"^time: .* is outside of the years 1 to 9999"):
        decoded({"a": 1.0, "y": 1.0}, written=time, target="y", time_features=["hour"])


@pytest.mark.parametrize(
    ("n_records", "n_names", "length"), [(5_000, 1, 5), (12, MOST_INPUTS, 10), (20, 10, 90_000)]
)
def test_many_forms_of_records_do_not_grow_memory(n_records, n_names, length):
    """Many forms of records, many names or long ones are remembered only up to a bound, and never
    wrong."""
    decode = decoder(target="y")
    for number in range(n_records):
        fields = {f"{number}_{i}".ljust(length, "_"): 1.0 for i in range(n_names)}
        assert decode({**fields, "y": 2.0}, None).x == fields
    kept = [name for plan in decode._plans for name in plan]
    assert len(decode._plans) <= 1_000
    assert n_names <= len(kept) <= 100_000
    assert sum(map(len, kept)) <= 10_000_000


def test_more_inputs_than_the_bound():
    """A record with more inputs than an event can have is refused, in both forms, and the message
    names the bound; fields that are ignored do not count."""
    fields = {f"x{i}": 1 for i in range(MOST_INPUTS)}
    assert len(decoded({**fields, "own": 1, "y": 1}, target="y", ignore=["own"]).x) == MOST_INPUTS
    fields["more"] = 1
    with pytest.raises(MalformedError, match=r"^x: 10,001 inputs; at most 10,000 are allowed"):
        decoded({**fields, "y": 1}, target="y")
    with pytest.raises(MalformedError, match=r"^x: 10,001 inputs; at most 10,000 are allowed"):
        EnvelopeDecoder()(json.dumps({"x": fields, "y": 1}).encode(), 0.0)


GERMAN = Notation(decimal=",", date_order="dmy")


@pytest.mark.parametrize(
    ("text", "number"), [("-1.234.567,25", -1234567.25), ("1.250", 1250.0), ("2,5e3", 2500.0)]
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


@pytest.mark.parametrize(
    ("text", "notation", "remedy"),
    [
        ("1.23,4", GERMAN, ""),
        ("1,2,3", GERMAN, ""),
        ("1.250,00", Notation(), 'set decimal = ",".*decoder.*type category'),
        ("-1.25", GERMAN, "decimal point.*decoder.*type category"),
    ],
)
def test_a_number_of_another_notation(text, notation, remedy):
    """It is not read as another number, nor silently a category: the error names the remedies."""
    how = {"typed": False, "parse": parse_row, "target": "y", "notation": notation}
    types = {"a": "category" if remedy else "number"}
    wrong = decoder(**how, types={} if remedy else types)
    with pytest.raises(MalformedError, match=f"^a: .*{remedy}"):
        wrong({"a": text, "y": 1.0}, None)
    if remedy:
        assert decoder(**how, types=types)({"a": text, "y": 1.0}, None).x == {f"a={text}": 1.0}


@pytest.mark.parametrize(
    "record",
    [
        {"x": {"temp": 20.5}, "y": 5, "id": "q1"},
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
        ({"x": {"temp": 20.5}, "y": 5, "z": 1}, {"target": "sales"}),
        ({"y": 4, "id": "a"}, {"target": "sales", "weight_field": "y"}),
    ],
)
def test_records_that_only_look_like_events_of_the_api(record, mapping):
    """Records with such names whose roles are known, or with others, are read as before."""
    assert decoded(record, **mapping).x is not None


@pytest.mark.parametrize("code", [8001, 8001.0, "8001"])
def test_codes_are_one_category(code):
    """A code is the same category as number and as text; text keeps its leading zeros."""
    decode = decoder(target="y", types={"zip": "category"})
    assert decode({"zip": code, "y": 1.0}, None).x == {"zip=8001": 1.0}
    assert decode({"zip": "01067", "y": 1.0}, None).x == {"zip=01067": 1.0}
    assert not decode.n_coerced


MAPPING = FieldMapping(target="result.minutes", id_field="order", time_field="done")


def test_other_fields_of_a_label_are_ignored():
    """Only id, label, time and weight are read; other fields may have any value."""
    decode = LabelDecoder(MAPPING, parse_json)
    payload = b'{"order": 7, "result": {"minutes": "31", "by": [[]]}, "done": 60, "x": {"a": {}}}'
    assert decode(payload, 90.0) == Example(None, 31.0, "7", 60.0, None)


def test_labels_of_classes():
    """The label of a classification is a class, and may have a weight."""
    mapping = FieldMapping(target="paid", id_field="id", weight_field="w")
    found = LabelDecoder(mapping, parse_json, "class")(b'{"id": "a", "paid": true, "w": 2}', None)
    assert (found.y, found.weight) == (True, 2.0)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b'{"result": {"minutes": 3}}', "order: missing or null; .* has the id in this field"),
        (b'{"order": null, "result": {"minutes": 3}}', "order: missing or null"),
        (b'{"order": 1}', "result.minutes: missing or null; .* has the label in this field"),
        (b'{"order": 1, "result": {"minutes": "soon"}}', "result.minutes: expected a number"),
        (None, "no value"),
    ],
)
def test_records_that_are_no_labels(payload, message):
    """A record without id or label is malformed; the error names the field."""
    with pytest.raises(MalformedError, match=message):
        LabelDecoder(MAPPING, parse_json)(payload, None)


def test_unseen_fields_of_labels():
    """A field that no record has is warned of as one of the labels', unless it is optional."""
    mapping = FieldMapping(target="y", id_field="id", time_field="at")
    decode = LabelDecoder(mapping, parse_json)
    decode(b'{"id": "a", "y": 1, "done": 3}', None)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always", IlnWarning)
        decode.warn_of_unseen()
    (warned,) = given
    assert str(warned.message).startswith("labels: time_field = 'at': no record of 1 has")
    assert "so the time is that of the record" in str(warned.message)


def test_the_usual_name_is_not_taken_for_another():
    """If no setting names the label, it is `y`; records whose label has another name are shown."""
    decode = LabelDecoder(FieldMapping(target="y", id_field="id"), parse_json)
    with pytest.raises(MalformedError):
        decode(b'{"id": "a", "by": "Kim", "minutes": 31}', None)
    with pytest.warns(
        IlnWarning, match="unless labels come later: the records have id, by, minutes"
    ):
        decode.warn_of_unseen()


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (b'{"sale": {"at": 60}}', 60.0),
        (b'{"sale.at": "1970-01-01T00:01:00Z"}', 60.0),
        (b'{"sale": {"at": 99999}}', 90.0),
        (b'{"sale": {"at": null}}', None),
        (b'{"sale": {"at": "NA"}}', None),
        (b'{"sale": {"at": "tomorrow"}}', None),
        (b'{"at": ', None),
        (b"{}", None),
        (None, None),
    ],
)
def test_time_of_a_record(payload, expected):
    """A record's own time counts, if it is valid and not after the record was written."""
    time_of = RecordTime(FieldMapping(time_field="sale.at"), parse_json)
    assert time_of(payload, 90.0) == expected
    assert time_of(b"{}", None) is None


RECORD = {"id": "a", "user": {"zip": "N1"}, "temp": 1.5, "price": 2.0}


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


def test_all_settings_match():
    """Nothing is warned of if each name occurs in some record: nested, in a list, in a pattern."""
    records = [RECORD, {"price": 1.0, "at": 5, "tags": ["new"]}]
    decode = decoder(
        target="price", features=("user", "te*", "tags"), ignore=("user.zip",), id_field="id",
        time_field="at", types={"tags": "category", "price": "number"}, time_features=("hour",),
    )  # fmt: skip
    assert warned(decode, records) == []
    assert warned(decoder(target="price"), []) == []


def test_first_records():
    """The warning comes after the first 1,000 records, not before, and not again at the end."""
    decode = decoder(target="Price")
    assert warned(decode, [RECORD] * (N_RECORDS - 1), ends=False) == []
    (text,) = warned(decode, [RECORD] * N_RECORDS)
    assert "no record of the first 1,000 has" in text
    assert "no record has a label and nothing is learned" in text


def test_dead_letters_count():
    """Fields of records that become dead letters have occurred."""
    decode = decoder(target="price", types={"temp": "number"})
    with pytest.raises(ValueError, match="temp"):
        decode(b'{"temp": "x", "price": 1}', None)
    assert warned(decode, []) == []


def test_time_features_without_a_time():
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


@pytest.mark.parametrize(
    ("texts", "told"),
    [
        ([f"1/{i}/2026 {i % 12 + 1}:00 AM" for i in range(1, 32)] * 2, None),  # 31, like categories
        ([f"{i % 12 + 1}/{i % 28 + 1}/2026" for i in range(50)], "set time_field to it"),
        ([f"2026-01-{i % 28 + 1:02}T{i % 24:02}:00Z" for i in range(50)], "set time_field to it"),
        ([f"{i} kW" if i else "off" for i in range(50)], 'types = {"a" = "amount in kW"}'),
        ([f"{i} {'kW' if i % 2 else 'MW'}" for i in range(50)], None),
        ([f"{i} Main St" if i % 2 else f"Inn {i}" for i in range(99)], None),
    ],
)
def test_many_texts_that_say_more_than_categories(texts, told):
    """Times and numbers in dress are not taken as categories in silence; other texts are."""
    found = warned(decoder(target="y"), [{"a": text, "y": 1} for text in texts])
    assert len(found) == (told is not None)
    assert told is None or told in found[0]
