"""Envelopes: the rows of Debezium's change events, and the data of CloudEvents."""

import json

import pytest

from iln_stream.records import MalformedError, SkippedError
from iln_stream.records.envelopes import Opened, envelope_of
from iln_stream.records.parsing import parse_json

TIME, CONNECT = "io.debezium.time.", "org.apache.kafka.connect.data."
VARIABLE = "io.debezium.data.VariableScaleDecimal"
COLUMNS = {
    "id": ("int64", None, 7, 7),
    "price": ("bytes", f"{CONNECT}Decimal", "Gig=", 66.96),
    "debt": ("bytes", f"{CONNECT}Decimal", "/5w=", -1.0),
    "text": ("string", None, "12.50", "12.50"),
    "ratio": ("double", None, 0.25, 0.25),
    "exact": ("struct", VARIABLE, {"scale": 3, "value": "BNI="}, 1.234),
    "day": ("int32", f"{TIME}Date", 20_454, 20_454 * 86_400.0),
    "at": ("int64", f"{TIME}Timestamp", 1_767_225_600_500, 1_767_225_600.5),
    "micro": ("int64", f"{TIME}MicroTimestamp", 1_767_225_600_000_001, 1_767_225_600.000001),
    "nano": ("int64", f"{TIME}NanoTimestamp", 1_767_225_600_000_000_000, 1_767_225_600.0),
    "zoned": ("string", f"{TIME}ZonedTimestamp", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
    "opens": ("int32", f"{TIME}Time", 3_600_000, 3_600.0),
    "none": ("int64", f"{TIME}Timestamp", None, None),
}  # fmt: skip


def change(op: str, *, with_schema: bool) -> bytes:
    """Return a change event, as Debezium writes it."""
    row = {name: value for name, (_, _, value, _) in COLUMNS.items()}
    before = None if op in "cr" else row
    payload = {"before": before, "after": None if op == "d" else row, "op": op, "ts_ms": 5}
    if not with_schema:
        return json.dumps(payload).encode()
    fields = [
        {"type": kind, "field": name, "parameters": {"scale": "2"}, **({"name": of} if of else {})}
        for name, (kind, of, _, _) in COLUMNS.items()
    ]
    row_schema = [
        {"type": "struct", "field": each, "fields": fields} for each in ("before", "after")
    ]
    schema = {"type": "struct", "fields": row_schema}
    return json.dumps({"schema": schema, "payload": payload}).encode()


def test_rows_of_change_events():
    """With its schema, a row's decimals and times are numbers; without, values stay as they are."""
    read = Opened(parse_json, "debezium")
    for op in "cur":
        found = read(change(op, with_schema=True))
        assert found == {name: value for name, (*_, value) in COLUMNS.items()}
        bare = read(change(op, with_schema=False))
        assert bare == {name: value for name, (_, _, value, _) in COLUMNS.items()}


@pytest.mark.parametrize(
    "payload",
    [
        None,
        change("d", with_schema=True),
        change("d", with_schema=False),
        b'{"op": "t", "after": null}',
        b'{"schema": null, "payload": null}',
    ],
)
def test_deletions_and_tombstones_are_skipped(payload):
    """What leaves no row is skipped, and is no dead letter."""
    with pytest.raises(SkippedError):
        Opened(parse_json, "debezium")(payload)


def test_data_of_events():
    """An event of CloudEvents gives its data, as an object or in base64, with its id and time."""
    read = Opened(parse_json, "cloudevents")
    event = {"specversion": "1.0", "id": "a-1", "source": "/s", "type": "t", "time": "2026-01-01"}
    expected = {"n": 2.5, "ce_id": "a-1", "ce_time": "2026-01-01"}
    assert read(json.dumps({**event, "data": {"n": 2.5}}).encode()) == expected
    assert read(json.dumps({**event, "data_base64": "eyJuIjogMi41fQ=="}).encode()) == expected
    with pytest.raises(SkippedError):
        read(json.dumps(event).encode())


@pytest.mark.parametrize(
    ("envelope", "payload", "message"),
    [
        ("debezium", b'{"n": 1}', "^op: a change event of Debezium has op"),
        ("debezium", b'{"op": "c", "after": 3}', "^op: a change event of Debezium has op"),
        ("cloudevents", b'{"n": 1}', "^specversion: missing"),
        ("cloudevents", b'{"specversion": "1.0", "data": 3}', "^data: expected an object, got 3"),
        ("cloudevents", b'{"specversion": "1.0", "data_base64": "?"}', "^data_base64: expected b"),
    ],
)  # fmt: skip
def test_other_records(envelope, payload, message):
    """A record without the envelope is malformed, with the field."""
    with pytest.raises(MalformedError, match=message):
        Opened(parse_json, envelope)(payload)


def test_envelopes_are_recognised():
    """All records, deletions included, have to have an envelope, so that it is proposed."""
    changes = [parse_json(change(op, with_schema=True)) for op in "crud"]
    assert envelope_of(changes) == "debezium"
    assert envelope_of([*changes, {"op": "c", "amount": 3}]) is None
    assert envelope_of([{"specversion": "1.0", "data": {"n": 1}}]) == "cloudevents"
