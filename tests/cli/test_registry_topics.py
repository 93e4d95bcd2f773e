"""Topics whose schemas are in a registry: `inspect-source` and `run`, with real servers."""

import base64
import json
import sys
import tomllib
import urllib.request
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from support.command_line import iln
from support.kafka_topics import create_topic, produce, unique_topic
from support.running_command import Command

from iln_stream.loop import Regression
from iln_stream.service import Settings, SettingsError, build_decoder, source_stream

START = 1_769_860_800_000


def order(*more):
    fields = [
        {"name": "order_id", "type": "string"},
        {"name": "ts", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "shop", "type": {"type": "record", "name": "Shop", "fields": [
            {"name": "zip", "type": "string"}]}},
        {"name": "temp", "type": ["null", "double"]},
        {"name": "photo", "type": "bytes"},
        {"name": "price", "type": "double"},
        *more,
    ]  # fmt: skip
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


def orders(first, n, **more):
    return [
        {
            "order_id": f"o-{i}", "ts": START + 60_000 * i, "shop": {"zip": f"0{i % 3}067"},
            "temp": None if i % 5 == 0 else i % 7 / 2, "photo": b"\x00\xff", "price": i % 7 * 2.0,
            **more,
        }
        for i in range(first, first + n)
    ]  # fmt: skip


class Orders:
    """A topic of orders in Avro, each batch written with a schema of its own."""

    def __init__(self, broker, registry):
        self.name = create_topic(broker.bootstrap, name=unique_topic("orders"))
        self._broker = broker
        self._client = SchemaRegistryClient({"url": registry.url})

    def serialised(self, schema, records):
        """Return the bytes of records, and register their schema."""
        context = SerializationContext(self.name, MessageField.VALUE)
        serialise = AvroSerializer(self._client, schema)
        return [serialise(record, context) for record in records]

    def append(self, schema, records):
        self.append_bytes(self.serialised(schema, records))

    def append_bytes(self, payloads):
        produce(self._broker.bootstrap, self.name, [(None, each) for each in payloads])


@pytest.mark.thorough
def test_inspected_and_learned(broker, registry, tmp_path):
    """The proposal of `inspect-source` learns the topic, across versions of its schema."""
    topic = Orders(broker, registry)
    topic.append(order(), orders(0, 30))
    topic.append(order({"name": "rush", "type": "boolean", "default": False}),
                 orders(30, 30, rush=True))  # fmt: skip
    topic.append_bytes([b'{"price": 1}'])
    where = ("--bootstrap", broker.bootstrap, "--format", "avro", "--registry", registry.url)
    shown = iln("inspect-source", f"kafka:{topic.name}", *where, cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "1 records can't be read; the first: offset 60: record: no serialiser" in shown.stderr
    assert "another schema; compared to the one before: with rush" in shown.stderr
    assert "HTTP Request" not in shown.stderr
    proposal = tomllib.loads(shown.stdout)
    assert proposal == {
        "source": f"kafka:{topic.name}", "bootstrap": broker.bootstrap, "format": "avro",
        "registry": registry.url, "target": "price", "id_field": "order_id", "time_field": "ts",
        "ignore": ["photo"], "time_features": ["hour", "weekday"],
        "types": {"shop.zip": "category"}, "recent_ids": 100_000, "start": "earliest",
    }  # fmt: skip
    (tmp_path / "learn.toml").write_text(shown.stdout)
    ran = iln(
        "run", "--config", "learn.toml", "--metrics-port", "0", "--start", "earliest",
        "--stop-at-end", "--learner", "pool", "--predictions", "p.jsonl",
        "--dead-letters", "d.jsonl", cwd=tmp_path, timeout=200,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert "60 events, 1 dead letters" in ran.stderr
    (letter,) = map(json.loads, (tmp_path / "d.jsonl").read_text().splitlines())
    assert (letter["offset"], letter["payload"]) == (60, '{"price": 1}')


@pytest.mark.thorough
def test_a_registry_that_is_down_loses_nothing(broker, registry, tmp_path):
    """A run that can't get a schema ends before that record; the next run learns from there on."""
    topic = Orders(broker, registry)
    topic.append(order(), orders(0, 20))
    new = {"name": f"a{uuid.uuid4().hex[:8]}", "type": "int", "default": 0}
    later = topic.serialised(order(new), orders(20, 5))
    run = (
        "run", "--source", f"kafka:{topic.name}", "--bootstrap", broker.bootstrap, "--format",
        "avro", "--registry", registry.url, "--target", "price", "--ignore", "photo",
        "--metrics-port", "0", "--start", "earliest", "--learner", "pool",
        "--predictions", "p.jsonl", "--dead-letters", "d.jsonl", "--snapshots", "s",
    )  # fmt: skip
    with Command(tmp_path, *run) as running:
        running.wait_for_metrics(lambda found: found.get("iln_events_total") == 20)
        registry.stop()
        try:
            topic.append_bytes(later)
            assert running.wait(60) == 2
            assert f"no answer from the registry at {registry.url} for 30 s" in running.said
        finally:
            registry.start()
    again = iln(*run, "--stop-at-end", cwd=tmp_path, timeout=200)
    assert "25 events, 0 dead letters" in again.stderr
    predicted = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert sorted({each["offset"] for each in predicted}) == list(range(25))
    assert (tmp_path / "d.jsonl").read_text() == ""


def test_credentials_are_files(broker, registry, tmp_path):
    """A registry that wants a password gets the one in the file; a wrong one is an error."""
    topic = Orders(broker, registry)
    topic.append(order(), orders(0, 3))
    secret = tmp_path / "secret"
    secret.write_text("ann:pass:word\n")
    secret.chmod(0o600)

    def built(url):
        settings = Settings(
            source=f"kafka:{topic.name}", format="avro", registry=url, target="price",
            registry_secrets={"basic.auth.user.info": str(secret)},
        )  # fmt: skip
        return build_decoder(settings, source_stream(settings), Regression())

    with guarded(registry.url, "ann:pass:word") as url:
        assert built(url) is not None
        secret.write_text("ann:wrong\n")
        with pytest.raises(Exception, match=r"refuses: HTTP 401.* Set registry_secrets") as caught:
            built(url)
    assert "wrong" not in str(caught.value)


@contextmanager
def guarded(url, user_info):
    """Put a password before a registry, which has none of its own without a server of logins."""
    expected = "Basic " + base64.b64encode(user_info.encode()).decode()

    class Guard(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.headers["Authorization"] != expected:
                self._answer(401, b'{"error_code": 401, "message": "Unauthorized"}')
                return
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(url + self.path, timeout=10) as answer:
                self._answer(answer.status, answer.read())

        def _answer(self, status, body):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Guard)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"registry": "http://127.0.0.1:1", "target": "y"}, r"^registry: set format, too"),
        ({"format": "avro", "registry": "http://127.0.0.1:1"}, r"^target: name the field"),
        ({"format": "avro", "source": "a.jsonl", "target": "y"}, r"for records of a log"),
    ],
)
def test_settings_that_do_not_fit(given, message):
    """A registry without a format, a format without a target, and a file are refused."""
    settings = Settings(**{"source": "kafka:events", **given})
    with pytest.raises(SettingsError, match=message):
        build_decoder(settings, source_stream(settings), Regression())


def test_a_password_in_the_address():
    """A password in the registry's address is refused, and not shown."""
    with pytest.raises(SettingsError, match="registry") as caught:
        Settings.load(registry="http://ann:geheim@127.0.0.1:8081")
    assert "geheim" not in str(caught.value)


def test_packages_that_are_missing(monkeypatch):
    """Without the extra's packages the error has the command that installs them."""
    monkeypatch.delitem(sys.modules, "iln_stream.records.registry", raising=False)
    monkeypatch.setitem(sys.modules, "confluent_kafka.schema_registry.avro", None)
    settings = Settings(
        source="kafka:events", format="avro", registry="http://127.0.0.1:1", target="y"
    )
    with pytest.raises(SettingsError, match=r"pip install 'iln-stream\[registry\]'"):
        build_decoder(settings, source_stream(settings), Regression())
