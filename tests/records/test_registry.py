"""`RegistryParser`: records that serialisers of a real schema registry wrote."""

import datetime as dt
import json
import threading
import time
import uuid
from decimal import Decimal

import pytest
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

from iln_stream.records import MalformedError
from iln_stream.records.fields import FieldMapping
from iln_stream.records.mapped import MappedDecoder
from iln_stream.records.registry import RegistryError, RegistryParser

pytestmark = pytest.mark.long  # a registry's server

NOON = dt.datetime(2026, 1, 31, 12, tzinfo=dt.UTC)
FLAT = [{"name": "a", "type": "double"}]


def avro_schema(*fields):
    return json.dumps({"type": "record", "name": "Order", "fields": list(fields)})


def written(registry, schema, *records, kind=AvroSerializer):
    """Return records as a serialiser writes them, which registers the schema."""
    client = SchemaRegistryClient({"url": registry.url})
    arguments = (client, schema) if kind is AvroSerializer else (schema, client)
    serialise = kind(*arguments)
    context = SerializationContext(f"topic-{uuid.uuid4().hex[:8]}", MessageField.VALUE)
    return [serialise(record, context) for record in records]


def parser(registry, form="avro", patience=20.0):
    return RegistryParser(form, {"url": registry.url}, patience)


def test_types_of_avro(registry):
    """Each logical type becomes a number, a text or a category; null is missing."""
    schema = avro_schema(
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 8,
                                   "scale": 2}},
        {"name": "key", "type": {"type": "string", "logicalType": "uuid"}},
        {"name": "sky", "type": {"type": "enum", "name": "Sky", "symbols": ["CLEAR", "RAIN"]}},
        {"name": "temp", "type": ["null", "double"]},
        {"name": "sold", "type": ["null", "boolean", "string"]},
        {"name": "shop", "type": {"type": "record", "name": "Shop", "fields": [
            {"name": "zip", "type": "string"}, {"name": "size", "type": "int"}]}},
        {"name": "spot", "type": {"type": "array", "items": "float"}},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "stock", "type": {"type": "map", "values": "long"}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
    )  # fmt: skip
    key = uuid.uuid4()
    record = {
        "at": NOON, "day": NOON.date(), "clock": dt.time(1, 0, 2), "price": Decimal("12.50"),
        "key": key, "sky": "RAIN", "temp": None, "sold": True, "shop": {"zip": "01067", "size": 3},
        "spot": [1.5, 2.5], "tags": ["new"], "stock": {"a": 7}, "hash": b"\x01\xff",
    }  # fmt: skip
    mapping = FieldMapping(
        target="price", id_field="key", time_field="at", types={"shop.zip": "category"},
        ignore=("hash",),
    )  # fmt: skip
    decode = MappedDecoder(mapping, parser(registry))
    found = decode(*written(registry, schema, record), None)
    assert found.y == 12.5
    assert (found.id, found.time) == (str(key), NOON.timestamp())
    midnight = NOON.replace(hour=0).timestamp()
    assert found.x == {
        "day": midnight, "clock": 3602.0, "sky=RAIN": 1.0, "sold": 1.0, "shop.zip=01067": 1.0,
        "shop.size": 3.0, "spot.0": 1.5, "spot.1": 2.5, "tags=new": 1.0, "stock.a": 7.0,
    }  # fmt: skip
    assert decode.n_missing == 1
    assert not decode.n_coerced


def test_bytes_are_a_category_if_a_type_says_so(registry):
    """Bytes are refused by name as an input, and a category in hexadecimal on request."""
    schema = avro_schema({"name": "hash", "type": "bytes"}, *FLAT)
    (payload,) = written(registry, schema, {"hash": b"\x01\xff", "a": 1.0})
    parse = parser(registry)
    with pytest.raises(MalformedError, match=r"^hash: bytes are no input; ignore the field"):
        MappedDecoder(FieldMapping(target="a"), parse)(payload, None)
    mapping = FieldMapping(target="a", types={"hash": "category"})
    assert MappedDecoder(mapping, parse)(payload, None).x == {"hash=01ff": 1.0}


def test_versions_of_one_subject(registry):
    """Records of an older and a newer version are each read with the schema that wrote them."""
    client = SchemaRegistryClient({"url": registry.url})
    context = SerializationContext(f"versions-{uuid.uuid4().hex[:8]}", MessageField.VALUE)
    older = AvroSerializer(client, avro_schema(*FLAT))({"a": 1.0}, context)
    added = {"name": "b", "type": ["null", "long"], "default": None}
    newer = AvroSerializer(client, avro_schema(*FLAT, added))({"a": 2.0, "b": 5}, context)
    assert len(client.get_versions(f"{context.topic}-value")) == 2
    parse = parser(registry)
    assert [parse(each) for each in (newer, older, newer)] == [
        {"a": 2.0, "b": 5},
        {"a": 1.0},
        {"a": 2.0, "b": 5},
    ]


def test_a_schema_that_refers_to_another(registry):
    """Schemas that are registered apart from each other are put together."""
    client = SchemaRegistryClient({"url": registry.url})
    subject = f"point-{uuid.uuid4().hex[:8]}"
    point = json.dumps({"type": "record", "name": "Point", "fields": FLAT})
    client.register_schema(subject, Schema(point, "AVRO"))
    whole = avro_schema({"name": "at", "type": "Point"})
    schema = Schema(whole, "AVRO", [SchemaReference("Point", subject, 1)])
    (payload,) = written(registry, schema, {"at": {"a": 1.5}})
    assert parser(registry)(payload) == {"at": {"a": 1.5}}


def test_json_schema(registry):
    """JSON is read as JSON and checked: what does not fit its schema is refused."""
    schema = json.dumps(
        {"title": "Order", "type": "object", "properties": {"a": {"type": "number"}}}
    )
    (payload,) = written(registry, schema, {"a": 1.5}, kind=JSONSerializer)
    parse = parser(registry, "json-schema")
    assert parse(payload) == {"a": 1.5}
    with pytest.raises(MalformedError, match=r"does not fit its schema: .*is not of type 'number'"):
        parse(payload[:5] + b'{"a": "x"}')
    with pytest.raises(MalformedError, match=r"^a: this key occurs more than once"):
        parse(payload[:5] + b'{"a": 1, "a": 2}')


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda good: b'{"a": 1}', "no serialiser of a schema registry wrote it"),
        (lambda good: good[:5], "no serialiser of a schema registry wrote it"),
        (lambda good: None, "has no value"),
        (lambda good: b"\x00\x00\x0f\x42\x40" + good[5:], "does not know its schema"),
        (lambda good: good[:8], "does not fit its schema"),
    ],
)
def test_records_that_are_wrong(registry, damage, reason):
    """A record without a known schema's number, or cut off, is refused with the reason, as is one
    that is a text, without fields to learn."""
    (good,) = written(registry, avro_schema(*FLAT), {"a": 1.0})
    with pytest.raises(MalformedError, match=reason):
        parser(registry)(damage(good))
    (payload,) = written(registry, json.dumps({"type": "string"}), "text")
    with pytest.raises(MalformedError, match="its schema has no fields: it is a str"):
        parser(registry)(payload)


@pytest.mark.thorough
def test_a_registry_that_is_down(registry):
    """A known schema is still read; for another one the registry is asked until patience ends."""
    known, unknown = (
        written(registry, avro_schema({"name": name, "type": "double"}), {name: 1.0})[0]
        for name in (f"k{uuid.uuid4().hex[:8]}", f"u{uuid.uuid4().hex[:8]}")
    )
    parse = parser(registry, patience=1.0)
    first = parse(known)
    registry.stop()
    try:
        assert parse(known) == first
        with pytest.raises(RegistryError, match=r"^no answer from the registry at http.* for 1 s"):
            parse(unknown)
        with pytest.raises(RegistryError, match="no answer"):
            parser(registry, patience=0.0)
    finally:
        registry.start()
    assert parse(unknown)


@pytest.mark.thorough
def test_a_registry_that_comes_back(registry):
    """A record waits for a registry that is down for a while, and is then read; retries are
    counted, and exported with the decoder's metrics."""
    name = f"n{uuid.uuid4().hex[:8]}"
    (payload,) = written(registry, avro_schema({"name": name, "type": "double"}), {name: 1.0})
    parse = parser(registry, patience=120.0)
    registry.stop()
    found = []
    reading = threading.Thread(target=lambda: found.append(parse(payload)))
    try:
        reading.start()
        time.sleep(1)
        assert not found
    finally:
        registry.start()
    reading.join(120)
    assert found == [{name: 1.0}]
    (retries,) = parse.metrics()
    assert retries.name == "iln_registry_retries_total"
    assert retries.read() >= 1
    parse(payload)  # its schema is known by now
    assert MappedDecoder(FieldMapping("y"), parse).metrics()[-1].read() == retries.read()


def test_a_wrong_path(registry):
    """An address without the path of the registry is an error that says so, and a misspelt option
    of the client names its setting."""
    with pytest.raises(RegistryError, match=r"Correct the path .*/apis/ccompat/v7"):
        RegistryParser("avro", {"url": registry.url.removesuffix("/apis/ccompat/v7")}, 0.0)
    with pytest.raises(RegistryError, match=r"^registry, registry_options: .*ssl\.ca"):
        RegistryParser("avro", {"url": registry.url, "ssl.ca": "a"}, 0.0)


def test_a_schema_that_changes(registry, caplog):
    """The log says once, at the first record of another schema, which fields are new and gone."""
    temp, fare = {"name": "temp", "type": "double"}, {"name": "fare", "type": ["null", "double"]}
    inner = {"type": "record", "name": "Sale", "fields": [fare]}
    first = avro_schema(temp, {"name": "sale", "type": ["null", inner]})
    second = avro_schema(temp, {"name": "surge", "type": "double", "default": 1.0})
    (old,) = written(registry, first, {"temp": 1.0, "sale": {"fare": 2.0}})
    (new,) = written(registry, second, {"temp": 1.0, "surge": 1.5})
    parse = parser(registry)
    caplog.set_level("INFO", "iln_stream")
    for payload in (old, old, new, new, old):
        parse(payload)
    (line,) = caplog.messages
    assert line.endswith("compared to the one before: with surge; without Sale, fare, sale")


def test_damaged_avro(registry):
    """Whatever byte of a record is damaged or cut off, it is read as numbers and texts, or becomes
    a dead letter at once: never another error, a hang, or much memory."""
    schema = avro_schema(
        *FLAT,
        {"name": "s", "type": "string"},
        {"name": "l", "type": {"type": "array", "items": "long"}},
        {"name": "m", "type": {"type": "map", "values": ["null", "double"]}},
        {"name": "p", "type": {"type": "bytes", "logicalType": "decimal", "precision": 8}},
        {"name": "d", "type": {"type": "int", "logicalType": "date"}},
    )
    record = {"a": 1.5, "s": "xyz", "l": [1, 2], "m": {"k": 2.0}, "p": Decimal(7), "d": NOON.date()}
    (payload,) = written(registry, schema, record)
    decode = MappedDecoder(FieldMapping("a"), parser(registry))
    damaged = [payload[:n] for n in range(len(payload))]
    for place in range(5, len(payload)):  # before it is the schema's number
        others = [bytes([payload[place] ^ 1 << bit]) for bit in range(8)]
        long = b"\xff" * 8 + b"\x7f"
        damaged += [payload[:place] + each + payload[place + 1 :] for each in (*others, long)]
    n_refused, began = 0, time.monotonic()
    for each in damaged:
        try:
            decode(each, None)
        except MalformedError:
            n_refused += 1
    assert len(damaged) > n_refused > len(damaged) // 8
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "items",
    [
        "null",
        {"type": "record", "name": "E", "fields": [{"name": "n", "type": "null"}]},
        {"type": "fixed", "name": "F", "size": 0},
    ],
    ids=["null", "record", "fixed"],
)
def test_arrays_of_items_that_take_no_bytes(registry, items):
    """Ten bytes could say that an array has 2^60 items which take none: the schema is refused."""
    client = SchemaRegistryClient({"url": registry.url})
    inner = {"type": "map", "values": ["null", {"type": "array", "items": items}]}
    schema = Schema(avro_schema({"name": "l", "type": inner}), "AVRO")
    number = client.register_schema(f"empty-{uuid.uuid4().hex[:8]}", schema)
    payload = b"\0" + number.to_bytes(4, "big") + b"\x02\x02k\x02" + b"\xff" * 8 + b"\x0f"
    with pytest.raises(MalformedError, match="items take no bytes"):
        parser(registry)(payload)
