"""Events: strict about what they are, clear about errors; and their inputs as numbers."""

import datetime as dt
import json
import math
import time
import warnings
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from iln_stream.errors import IlnWarning
from iln_stream.records import Event, MalformedError, decode, one_hot, payload_bytes
from iln_stream.records.decoding import LARGEST_PAYLOAD, NumbersAsText

finite = st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(codec="utf-8"))
moments = st.datetimes(
    timezones=st.integers(-23 * 60, 23 * 60).map(lambda m: dt.timezone(dt.timedelta(minutes=m)))
)
events = st.builds(
    Event,
    x=st.dictionaries(text, finite | st.booleans() | text | st.none()),
    y=finite | st.none(),
    id=text | st.none(),
    timestamp=moments | st.none(),
)

NOT_JSON = {
    "empty": b"",
    "truncated": b'{"x": {"a": 1.5',
    "two objects": b'{"x": {}} {"x": {}}',
    "not UTF-8": b"\xff\xfe\x00",
    "half a surrogate pair": b'{"x": {"a": "\\ud800"}}',
    "nested objects, 10,000 deep": b'{"x":' * 10_000 + b"1" + b"}" * 10_000,
}

WRONG = {
    "input twice, once escaped": (b'{"x": {"a": 1, "\\u0061": 2}}', "a", "occurs more than once"),
    "x twice": (b'{"x": {}, "y": 1, "x": {"a": 1}}', "x: ", "occurs more than once"),
    "input twice, spaces before colons": (
        b'{"x": {"a" :1, "b"\t:2, "a"\n:1, "c"\r: 0}}',
        "a",
        "occurs more than once",
    ),
    "y twice, among colons": (
        b'{"x": {"a:": ":"}, "y": 1, "y": 1}',
        "y: ",
        "occurs more than once",
    ),
    "array at the top": (b"[1, 2]", "event: ", "an object"),
    "no x": (b'{"y": 1}', "x: ", "missing"),
    "null x": (b'{"x": null}', "x: ", "an object"),
    "text as y": (b'{"x": {}, "y": "1.5"}', "y: ", "a finite number, got '1.5'"),
    "boolean y": (b'{"x": {}, "y": true}', "y: ", "a finite number, got True"),
    "NaN y": (b'{"x": {}, "y": NaN}', "y: ", "a finite number"),
    "y beyond a double": (b'{"x": {}, "y": 1e400}', "y: ", "a finite number"),
    "whole y beyond a double": (b'{"x": {}, "y": 1' + b"0" * 400 + b"}", "y: ", "number"),
    "NaN input": (b'{"x": {"a": NaN}}', "x.a: ", "a finite number, boolean, string or null"),
    "input beyond a double": (b'{"x": {"a": 1e400}}', "x.a: ", "a finite number"),
    "whole input beyond a double": (
        b'{"x": {"a": -1' + b"0" * 400 + b"}}",
        "x.a: ",
        "a finite number",
    ),
    "nested object": (b'{"x": {"a": {"b": 1}}}', "x.a: ", "got {'b': 1}"),
    "unknown field": (b'{"x": {}, "label": 1}', "label: ", "unknown name"),
    "text as a label": (b'{"id": "a", "y": "11 kg"}', "y: ", "a finite number, got '11 kg'"),
    "number as id": (b'{"x": {}, "id": 5}', "id: ", 'a text, got 5 (ids are text: send "5")'),
    "time without offset": (
        b'{"x": {}, "timestamp": "2026-01-31T12:00:00"}',
        "timestamp: ",
        "timezone",
    ),
    "NaN as time": (b'{"x": {}, "timestamp": NaN}', "timestamp: ", "a valid datetime"),
}


@given(events)
def test_round_trip(event):
    """Every valid event survives JSON to the last bit."""
    assert decode(event.model_dump_json().encode()) == event


@given(st.dictionaries(text, finite | st.booleans() | text | st.none()), finite | st.none())
def test_plain_json_is_enough(x, y):
    """Any standard JSON writer produces valid events."""
    event = decode(json.dumps({"x": x, "y": y}).encode())
    assert event.x == x
    assert {name: type(v) for name, v in event.x.items() if v in (0, 1)} == {
        name: type(v) for name, v in x.items() if v in (0, 1)
    }, "true must not become 1.0"
    assert event.y == y


@given(st.binary())
@example(b'{"x": {"a": ' + b"9" * 5000 + b"}}")
@example(b'{"x": {"a": 1e' + b"9" * 100 + b"}}")
def test_any_bytes(payload):
    """Garbage raises only MalformedError, which the loop turns into a dead letter."""
    try:
        found = decode(payload)
    except MalformedError as error:
        found = error
    assert isinstance(found, Event) or str(found)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)


@given(st.fixed_dictionaries({"x": json_values}, optional={"y": json_values, "id": json_values}))
def test_nothing_but_finite_numbers_gets_through(fields):
    """A decoded event has only finite numbers, booleans, strings and nulls."""
    try:
        event = decode(json.dumps(fields).encode())
    except MalformedError:
        return
    for value in [*event.x.values(), event.y]:
        assert value is None or isinstance(value, (bool, str)) or math.isfinite(value)
    assert not isinstance(event.y, (bool, str))


@pytest.mark.parametrize("payload", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_not_json(payload):
    """Invalid JSON is refused with line and column, however deep the error is."""
    with pytest.raises(MalformedError, match=r"event: Invalid JSON: .* line \d+ column \d+"):
        decode(payload)


@pytest.mark.parametrize(("payload", "field", "expected"), WRONG.values(), ids=WRONG.keys())
def test_wrong_field(payload, field, expected):
    """The reason begins with the name of the wrong field and says what is expected."""
    with pytest.raises(MalformedError) as caught:
        decode(payload)
    assert str(caught.value).startswith(field)
    assert expected in str(caught.value)


def test_nested_fields():
    """An object among the inputs is refused with the form in which its fields are inputs."""
    with pytest.raises(MalformedError, match=r'^x\.shop: .*, such as "shop\.a"'):
        decode(b'{"x": {"shop": {"zip": "01067"}}}')


def test_tombstone():
    """A Kafka record without a value is a MalformedError, not a crash."""
    with pytest.raises(MalformedError, match="the record has no value"):
        decode(None)


def test_whole_numbers():
    """Integers are numbers; beyond 2^53 they round like any double."""
    event = decode(b'{"x": {"a": 3, "big": 9007199254740993}, "y": -2}')
    assert event.x == {"a": 3.0, "big": 9007199254740992.0}
    assert event.y == -2.0


def test_many_wrong_fields():
    """A reason names wrong fields at once, so that a sender can correct them together; a thousand
    give a short reason that still counts them."""
    with pytest.raises(MalformedError) as caught:
        decode(b'{"x": {"a": [], "b": 1, "c": {}}, "y": "2", "z": 0}')
    reason = str(caught.value)
    assert [part.split(":")[0] for part in reason.split("; ")] == ["x.a", "x.c", "y", "z"]
    fields = {"x": {f"input{i}": [] for i in range(1000)}}
    with pytest.raises(MalformedError, match=r"\(and 995 more\)$") as caught:
        decode(json.dumps(fields).encode())
    assert len(str(caught.value)) < 1000


def test_too_many_wrong_fields():
    """A hostile record does not stall learning: to describe 80,000 errors takes seconds."""
    for payload in (
        b'{"x": {%s}}' % _joined(b'"%07d":[]', 900_000),
        b'{"x": {},%s}' % _joined(b'"%07d":1', 900_000),
        b'{"id": "a", "y": 1,%s}' % _joined(b'"%07d":1', 900_000),
    ):
        with pytest.raises(MalformedError, match=r"^event: more than 3,000 errors, too many to"):
            decode(payload)


@pytest.mark.parametrize(
    "fields",
    [
        {"x": {"a": ["s" * 1_000_000]}},
        {"x": {"n" * 1_000_000: []}},
        {"x": {}, "y": "s" * 1_000_000},
    ],
    ids=["value", "input's name", "label"],
)
def test_huge_text_in_a_reason(fields):
    """A megabyte of nonsense is truncated: dead letters and logs stay readable."""
    with pytest.raises(MalformedError) as caught:
        decode(json.dumps(fields).encode())
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "payload",
    [b"?" * (LARGEST_PAYLOAD + 1), b'{"x": {}, "y": %s}' % (b"9" * 5_000_000), b"[" * 100_000_000],
    ids=["garbage", "5 MB of digits", "100 MB of nesting"],
)
def test_what_is_too_large_is_not_parsed(payload):
    """A payload above the limit is refused by its size alone, so that it costs no parsing time; at
    the limit it is an event."""
    largest = b'{"x": {"a": 1}}'.ljust(LARGEST_PAYLOAD)
    assert decode(largest).x == {"a": 1.0}
    with pytest.raises(MalformedError, match=r"^event: [\d,]+ bytes; at most 1,048,576 are"):
        decode(payload)


# Payloads of about n bytes, each the worst case for one part of decoding.
SHAPES = {
    "many inputs": lambda n: b'{"x": {%s}}' % _joined(b'"%07d":1', n),
    "many texts with colons": lambda n: b'{"x": {%s}}' % _joined(b'"%07d":":"', n),
    "long text of escapes": lambda n: b'{"x": {"a": "%s:"}}' % (b'\\"\\\\' * (n // 4)),
    "text that does not end": lambda n: b'{"x": {"a": "%s' % (b'\\":' * (n // 3)),
    "long digits": lambda n: b'{"x": {}, "y": %s}' % (b"9" * n),
    "many long digits": lambda n: b'{"x": {}, "y": [%s]}' % b",".join([b"9" * 4300] * (n // 4300)),
    "long time": lambda n: b'{"x": {}, "timestamp": 1.%s}' % (b"9" * n),
    "deep nesting": lambda n: b'{"x": {"a": %s' % (b'{"a":[' * (n // 6)),
    "many lists": lambda n: b'{"x": {"a": [%s]}}' % _joined(b"[1%06d]", n),
    "many wrong inputs": lambda n: b'{"x": {%s}}' % _joined(b'"%07d":[]', n),
    "many unknown fields": lambda n: b'{"x": {},%s}' % _joined(b'"%07d":1', n),
    "last input twice": lambda n: b'{"x": {%s,"a":1,"a":1}}' % _joined(b'"%07d":1', n),
    "spaces": lambda n: b'{"x": {%s}}' % (b" " * n),
}


def _joined(pattern, n):
    return b",".join(pattern % i for i in range(n // (len(pattern) + 5)))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_time_is_linear_in_size(shape):
    """No allowed payload can stall the stream: eight times the size takes about eight times the
    CPU time, not 64. Most of the work is in compiled code, so the test can only measure time; its
    bound is twice the largest ratio ever seen."""
    small, large = (min(_seconds(shape(n)) for _ in range(5)) for n in (1 << 14, 1 << 17))
    assert large < 30 * small


def _seconds(payload):
    began = time.process_time()
    with suppress(MalformedError):
        decode(payload)
    return time.process_time() - began


def test_reason_is_one_line():
    """Names with line breaks can't forge lines in a log."""
    with pytest.raises(MalformedError) as caught:
        decode(json.dumps({"x": {"a\nb": []}}).encode())
    assert str(caught.value).startswith("x.'a\\nb': ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ("2026-01-31T12:00:00Z", dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)),
        ("2026-01-31T12:00:00+02:00", dt.datetime(2026, 1, 31, 10, tzinfo=dt.UTC)),
        (1_769_860_800.25, dt.datetime(2026, 1, 31, 12, 0, 0, 250_000, tzinfo=dt.UTC)),
        (1_769_860_800_000, dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)),
        (-1, dt.datetime(1969, 12, 31, 23, 59, 59, tzinfo=dt.UTC)),
    ],
)
def test_timestamp_formats(sent, expected):
    """A time is RFC 3339 with an offset, POSIX seconds or, from 2e10 on, POSIX milliseconds."""
    assert decode(json.dumps({"x": {}, "timestamp": sent}).encode()).timestamp == expected


def test_null_and_absent_are_the_same():
    """A null field means the same as an absent one; nobody can change an event that others read."""
    absent = decode(b'{"x": {}}')
    with pytest.raises(ValueError, match="frozen"):
        absent.y = 3.0
    assert decode(b'{"x": {}, "y": null, "id": null, "timestamp": null}') == absent


def test_fields_in_place_of_bytes():
    """Fields from a source that needs no decoding are checked by the same rules."""
    assert decode({"x": {"a": 1}, "y": 2}) == decode(b'{"x": {"a": 1}, "y": 2}')
    with pytest.raises(MalformedError, match=r"x\.a: expected a finite number.* got nan"):
        decode({"x": {"a": math.nan}})
    with pytest.raises(MalformedError, match=r"y: .*got True"):
        decode({"x": {}, "y": True})


@pytest.mark.parametrize(
    ("payload", "kept"),
    [
        (None, b""),
        (b"\xff", b"\xff"),
        ({"x": {"a": 1}}, b'{"x": {"a": 1}}'),
        ({"x": {"when": dt.time(1)}}, b'{"x": {"when": "datetime.time(1, 0)"}}'),
    ],
)
def test_payload_bytes(payload, kept):
    """Any payload of a source can go into a dead letter."""
    assert payload_bytes(payload) == kept


def test_colons_in_strings_are_not_keys():
    """Colons in times, addresses and escaped strings do not count as repeated keys."""
    text = (
        r'{"x": {"a:b": "c:d", "e": "\":\\"}, "id": "f:1:2", "timestamp": "2026-01-31T12:00:00Z"}'
    )
    event = decode(text.encode())
    assert event.x == {"a:b": "c:d", "e": '":\\'}
    assert event.id == "f:1:2"


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers())
def test_each_number_is_recognised(number):
    """A number is recognised in the form in which Python and JSON write it; of one with a decimal
    comma the warning names the setting."""
    with pytest.warns(IlnWarning, match='"number"} and decimal = ","'):
        assert NumbersAsText().watch({"a": "-20,5"}) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert NumbersAsText().watch({"a": str(number), "b": number}) == 1


@pytest.mark.parametrize("text", ["clear", "", "01067", "-007", "1.2.3", "1, 2", "e5", "."])
def test_other_texts_are_categories(text):
    """Texts that are no numbers, and codes with leading zeros, are left in peace."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert NumbersAsText().watch({"a": text}) == 0


def test_one_warning_for_each_name():
    """Each name is warned of once, with the remedies; all texts are counted."""
    texts = NumbersAsText()
    with pytest.warns(IlnWarning) as caught:
        assert [texts.watch({"a": "1.5", "b": i}) for i in ("2", "x", "3")] == [2, 1, 2]
    assert [str(each.message)[:3] for each in caught] == ["x.a", "x.b"]
    assert 'types = {"x.a" = "number"}' in str(caught[0].message)
    with pytest.warns(IlnWarning) as caught:
        assert texts.watch({f"c{i}": "1" for i in range(50)}) == 50
    assert len(caught) == 18


@pytest.mark.parametrize(
    ("x", "numbers"),
    [
        ({}, {}),
        ({"a": 1.5, "b": 0.0}, {"a": 1.5, "b": 0.0}),
        ({"up": True, "down": False}, {"up": 1.0, "down": 0.0}),
        ({"sky": "clear"}, {"sky=clear": 1.0}),
        ({"rain": None}, {}),
    ],
)
def test_one_hot(x, numbers):
    """Each kind of value has its encoding; nulls are left out."""
    encoded = one_hot(x)
    assert encoded == numbers
    assert all(type(value) is float for value in encoded.values())


@pytest.mark.parametrize("x", [{"a": "b", "a=b": 2.0}, {"a": "b=c", "a=b": "c"}])
def test_names_that_collide_are_refused(x):
    """Two inputs that would get the same name are refused: one would be lost."""
    for order in (x, dict(reversed(x.items()))):
        with pytest.raises(MalformedError, match="two inputs would get the name"):
            one_hot(order)
