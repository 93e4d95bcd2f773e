"""A broker that compacts, takes large records and soon closes idle connections."""

import os
import time
from contextlib import closing
from itertools import pairwise

import pytest
from kafka import KafkaProducer
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, produce, read_topic, unique_topic

from iln_stream.streams import Resume
from iln_stream.streams.kafka import KafkaSink, KafkaSource
from iln_stream.streams.kafka.confluent import ConfluentSource

pytestmark = pytest.mark.thorough
IDLE_SECONDS = 1.5

both_clients = pytest.mark.parametrize("client", [KafkaSource, ConfluentSource])


@pytest.fixture(scope="module")
def restless(tmp_path_factory):
    settings = {
        "connections.max.idle.ms": f"{1000 * IDLE_SECONDS:.0f}",
        "log.cleaner.backoff.ms": "200",
        "message.max.bytes": "20000000",
    }
    with KafkaBroker(tmp_path_factory.mktemp("restless"), settings, borrow=False) as running:
        yield running


def read(source, count=None):
    """Poll until so many records have come, or until the source is exhausted."""
    records, deadline = [], time.monotonic() + 60
    while len(records) < count if count is not None else not source.exhausted:
        assert time.monotonic() < deadline, f"only {len(records)} records"
        records += source.poll(0.2)
    return records


@both_clients
def test_a_compacted_topic(restless, client):
    """Of a compacted topic each record that is left comes once, in the order of the offsets, over
    gaps of any width, and a position within a gap is no loss; the lag falls to 0."""
    compact = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.001",
        "segment.ms": "100",
        "delete.retention.ms": "0",
    }
    bootstrap, topic = restless.bootstrap, create_topic(restless.bootstrap, configs=compact)
    for part in range(6):
        numbers = range(100 * part, 100 * part + 100)
        keyed = [(b"%d" % n if n % 7 == 0 else b"again", b"%d" % n) for n in numbers]
        produce(bootstrap, topic, keyed)
        time.sleep(0.2)
    deadline = time.monotonic() + 60
    while len(left := read_topic(bootstrap, topic)) > 250:
        assert time.monotonic() < deadline, f"{len(left)} records are left"
        time.sleep(0.5)
        produce(bootstrap, topic, [(b"again", b"rolls the segment")])
    time.sleep(2)
    for start in ("earliest", Resume(3, None), Resume(left[-1].offset - 1, None)):
        with closing(client(topic, bootstrap=bootstrap, start=start, stop_at_end=True)) as source:
            found = [(record.offset, record.payload) for record in read(source)]
            assert source.lag == 0
        first = start.offset if isinstance(start, Resume) else 0
        expected = [(each.offset, each.value) for each in read_topic(bootstrap, topic)]
        assert found == [each for each in expected if each[0] >= first]
    wide = [b[0] - a[0] for a, b in pairwise(expected)]
    assert wide.count(7) > 30


@both_clients
def test_records_of_15_mb(restless, client):
    """Records of 15 MB are read whole, between small ones."""
    topic = create_topic(restless.bootstrap)
    large = os.urandom(15_000_000)
    sent = [b"first", large, b"second", large[::-1], large, b"last"]
    with closing(
        KafkaProducer(bootstrap_servers=restless.bootstrap, max_request_size=20_000_000)
    ) as producer:
        for value in sent:
            producer.send(topic, value, partition=0).get(60)
    where = {"bootstrap": restless.bootstrap, "start": "earliest"}
    with closing(client(topic, stop_at_end=True, **where)) as source:
        assert [record.payload for record in read(source)] == sent


@both_clients
def test_idle_connections(restless, client):
    """Connections that the broker closed, as they were idle, are opened again: each record is read
    and each message stored, once."""
    bootstrap, topic, target = restless.bootstrap, create_topic(restless.bootstrap), unique_topic()
    named = "confluent" if client is ConfluentSource else "kafka-python"
    with (
        closing(client(topic, bootstrap=bootstrap, start="earliest")) as source,
        closing(KafkaSink(target, bootstrap=bootstrap, client=named)) as sink,
    ):
        for value in (b"1", b"2", b"3"):
            produce(bootstrap, topic, [(None, value)])
            (record,) = read(source, 1)
            assert record.payload == value
            sink.write(None, value)
            sink.flush()
            time.sleep(2 * IDLE_SECONDS)
        assert source.poll(0.5) == []
    assert [record.value for record in read_topic(bootstrap, target)] == [b"1", b"2", b"3"]
