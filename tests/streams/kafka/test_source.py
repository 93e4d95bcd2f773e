"""Both Kafka sources on a real broker: each committed record once, in order, or an error."""

import datetime as dt
import gzip
import os
import threading
from contextlib import ExitStack
from time import monotonic, sleep

import kafka.codec
import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from support.kafka_topics import TransactionalWriter, create_topic, produce, unique_topic

from iln_stream.errors import SourceError
from iln_stream.streams.kafka import KafkaSource
from iln_stream.streams.kafka import consumer as partition_module
from iln_stream.streams.kafka.confluent import ConfluentSource

NOBODY_LISTENS_HERE = "127.0.0.1:1"
A_FEW_AT_A_TIME = {"max_poll_records": 100, "max_partition_fetch_bytes": 5_000}


@pytest.fixture(params=[KafkaSource, ConfluentSource])
def client(request):
    """Both sources must behave alike."""
    return request.param


@pytest.fixture
def open_source(broker, client):
    """Opens sources on the shared broker, or another, and closes them after the test."""
    with ExitStack() as opened:

        def open_one(topic, **arguments):
            given = {"bootstrap": broker.bootstrap, "start": "earliest", **arguments}
            source = client(topic, **given)
            opened.callback(source.close)
            return source

        yield open_one


def messages(count, first=0, size=0):
    return [(None, b"%d" % number + b" " * size) for number in range(first, first + count)]


def read(source, count=None, within=30.0):
    """Poll until `count` records have come, or until the source is exhausted."""
    records = []
    deadline = monotonic() + within
    while (len(records) < count) if count is not None else (not source.exhausted):
        assert monotonic() < deadline, f"only {len(records)} records within {within} s"
        records += source.poll(0.2)
    return records


def read_for(source, seconds):
    records = []
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        records += source.poll(0.1)
    return records


def numbers(records):
    return [int(record.payload) for record in records]


def offsets(records):
    return [record.offset for record in records]


WITH_DEFAULT_CLIENT = pytest.mark.parametrize(
    "client",
    [KafkaSource, pytest.param(ConfluentSource, marks=pytest.mark.thorough)],
    indirect=True,
)
"""What takes long, `make test` has with the default client only."""


# Order and completeness


def test_each_record_comes_once_in_offset_order(broker, topic, open_source):
    """Over many fetches no record is lost, repeated or reordered."""
    produce(broker.bootstrap, topic, messages(5_000))
    source = open_source(topic, stop_at_end=True, options={"max_partition_fetch_bytes": 4_000})
    records = read(source)
    assert numbers(records) == list(range(5_000))
    assert offsets(records) == list(range(5_000))
    assert source.lag == 0


@WITH_DEFAULT_CLIENT
@pytest.mark.parametrize("tail", ["commit", "abort"])
def test_gaps_hide_nothing(broker, topic, open_source, tail):
    """Transaction markers and aborted records are skipped, and the lag falls to 0, also at the end
    of the topic."""
    sent = {}
    following = open_source(topic, options=A_FEW_AT_A_TIME)
    with TransactionalWriter(broker.bootstrap) as writer:
        for round_ in range(30):
            batch = messages(20, first=20 * round_)
            sent.update(zip(writer.commit(topic, batch), (v for _, v in batch), strict=True))
            writer.abort(topic, [(None, b"never happened")] * 7)
        if tail == "commit":
            sent[writer.commit(topic, [(None, b"600")])[0]] = b"600"
    stopping = open_source(topic, stop_at_end=True, options=A_FEW_AT_A_TIME)
    for source, count in ((stopping, None), (following, len(sent))):
        records = read(source, count)
        assert {record.offset: record.payload for record in records} == sent
        assert offsets(records) == sorted(sent)
    assert read_for(following, 1.0) == []
    assert (stopping.lag, following.lag, following.exhausted) == (0, 0, False)


def test_lag_has_records_that_came_while_fetched_ones_were_read(
    broker, topic, open_source, monkeypatch
):
    """The end is looked up again while records come from what was fetched, without a new fetch."""
    monkeypatch.setattr(partition_module, "_LOOK_EVERY_SECONDS", 0.0)
    produce(broker.bootstrap, topic, messages(300))
    source = open_source(topic, options={"max_poll_records": 100})
    n_read = len(read(source, count=1))
    produce(broker.bootstrap, topic, messages(50, first=300))
    while n_read < 300:  # one fetch brought them all
        n_read += len(records := source.poll(0.2))
        assert not records or source.lag == 350 - n_read
    read(source, count=350 - n_read)
    assert source.lag == 0


def test_an_open_transaction_is_waited_for(broker, topic, open_source):
    """The source waits for an open transaction, and does not return later records before it."""
    source = open_source(topic)
    produce(broker.bootstrap, topic, messages(5))
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap, transactional_id=unique_topic())
    producer.init_transactions()
    producer.begin_transaction()
    producer.send(topic, b"5", partition=0).get(30)
    produce(broker.bootstrap, topic, messages(5, first=6))
    assert numbers(read(source, count=5)) == list(range(5))
    assert read_for(source, 1.0) == []
    assert source.lag > 0
    stopping = open_source(topic, stop_at_end=True)
    assert numbers(read(stopping)) == list(range(5))  # its end is before the open transaction
    producer.commit_transaction()
    producer.close()
    assert numbers(read(source, count=6)) == list(range(5, 11))


def test_a_growing_topic_ends_where_its_end_was(broker, topic, open_source):
    """`stop_at_end` ends at the end at the start, even if the topic keeps growing."""
    produce(broker.bootstrap, topic, messages(500))
    source = open_source(topic, stop_at_end=True)
    too_late = [(None, b"-1")] * 100
    enough = threading.Event()

    def go_on_writing():
        while not enough.is_set():
            produce(broker.bootstrap, topic, too_late)

    produce(broker.bootstrap, topic, too_late)  # so that the first poll gets some of them
    writer = threading.Thread(target=go_on_writing)
    writer.start()
    try:
        assert numbers(read(source)) == list(range(500))
        assert source.poll(0.2) == []
    finally:
        enough.set()
        writer.join()


def test_only_one_partition_is_read(broker, open_source, client):
    """A source reads only its partition; the error for a missing one has the existing ones."""
    topic = create_topic(broker.bootstrap, partitions=3)
    for partition in range(3):
        produce(broker.bootstrap, topic, messages(50, first=100 * partition), partition=partition)
    source = open_source(topic, partition=1, stop_at_end=True)
    assert numbers(read(source)) == list(range(100, 150))
    assert source.partition == 1
    with pytest.raises(SourceError, match=r"has partitions \[0, 1, 2\], not 3"):
        client(topic, 3, bootstrap=broker.bootstrap, start="earliest")


def test_start(broker, topic, open_source):
    """Reading starts exactly at `start`, even if all records are older."""
    day, zone = dt.datetime(2001, 1, 1, tzinfo=dt.UTC), dt.timezone(dt.timedelta(hours=2))
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
    for hour in range(10):
        at = int((day + dt.timedelta(hours=hour)).timestamp() * 1000)
        producer.send(topic, b"%d" % hour, partition=0, timestamp_ms=at)
    producer.close()
    sources = {
        start: (open_source(topic, start=start), first)
        for start, first in (
            ("earliest", 0),
            (day.replace(year=2000), 0),
            (day.replace(hour=4), 4),
            (day.replace(hour=4, minute=1), 5),
            (day.replace(hour=6, minute=1, tzinfo=zone), 5),
            (day.replace(day=2), 10),
            ("latest", 10),
        )
    }
    stopping = open_source(topic, start="latest", stop_at_end=True)
    assert stopping.exhausted
    assert stopping.poll(0.1) == []
    assert [source.lag for source, _ in sources.values()] == [
        10 - first for _, first in sources.values()
    ]
    produce(broker.bootstrap, topic, messages(1, first=10))
    for source, first in sources.values():
        assert numbers(read(source, count=11 - first)) == list(range(first, 11))


# Errors


def test_unknown_topic(broker, client):
    """A misspelt topic is an error; it is not created."""
    name = unique_topic("misspelt")
    with pytest.raises(SourceError, match=f"no topic '{name}' at {broker.bootstrap}"):
        client(name, bootstrap=broker.bootstrap, start="earliest")
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        assert name not in admin.list_topics()


def test_no_broker(client):
    """Without a broker there is an error with the address, within the time in the options."""
    before = monotonic()
    soon = {"bootstrap_timeout_ms": 1_000}
    with pytest.raises(SourceError, match=f"no Kafka broker answers at {NOBODY_LISTENS_HERE}"):
        client("any", bootstrap=NOBODY_LISTENS_HERE, start="earliest", options=soon)
    assert monotonic() - before < 5


@pytest.mark.parametrize(
    "option",
    [
        {"group_id": "ours"},
        {"enable_auto_commit": True},
        {"auto_offset_reset": "latest"},
        {"isolation_level": "read_uncommitted"},
        {"allow_auto_create_topics": True},
    ],
    ids=lambda option: next(iter(option)),
)
def test_options_that_order_depends_on_are_refused(topic, option, client):
    """No option can make the source jump, skip records or read aborted ones."""
    with pytest.raises(SourceError, match=rf"kafka_options: {next(iter(option))} can't be set"):
        client(topic, bootstrap=NOBODY_LISTENS_HERE, start="earliest", options=option)


@pytest.mark.parametrize(
    "option", [{"max_poll_record": 5}, {"fetch_max_wait_ms": 10**6}, {"api_version": "x"}]
)
def test_wrong_options_are_errors(broker, topic, open_source, client, option):
    """A misspelt or invalid option is a SourceError that names the option or the setting."""
    if "api_version" in option and client is ConfluentSource:
        pytest.skip("only kafka-python has this option")
    with pytest.raises(SourceError, match=next(iter(option)) + "|kafka_options"):
        open_source(topic, options=option)


def test_options_are_shared_with_the_sinks(broker, topic, open_source):
    """Options of producers do not break the source."""
    produce(broker.bootstrap, topic, messages(1))
    options = {"security_protocol": "PLAINTEXT", "compression_type": "gzip", "linger_ms": 5}
    assert numbers(read(open_source(topic, options=options, stop_at_end=True))) == [0]


def delete_before(bootstrap, topic, offset):
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        admin.delete_records({TopicPartition(topic, 0): offset})


@WITH_DEFAULT_CLIENT
def test_retention_that_overtakes_is_an_error(broker, topic, open_source):
    """Reading ends before the first deleted record and does not continue after the gap."""
    for first in range(0, 2_000, 100):  # many batches, so that few are prefetched
        produce(broker.bootstrap, topic, messages(100, first=first, size=1_000))
    source = open_source(topic, options={**A_FEW_AT_A_TIME, "max_poll_records": 10})
    records = read(source, count=50)
    delete_before(broker.bootstrap, topic, 1_990)
    with pytest.raises(SourceError, match="retention"):  # noqa: PT012
        for _ in range(30):
            records += source.poll(1.0)
    assert offsets(records) == list(range(len(records)))
    assert len(records) < 1_990


@pytest.mark.parametrize("n_new", [5, pytest.param(50, marks=pytest.mark.thorough)])
def test_a_recreated_topic_is_an_error(broker, topic, open_source, n_new):
    """Reading does not continue in the middle of a new topic of the same name."""
    produce(broker.bootstrap, topic, messages(10))
    source = open_source(topic)
    assert len(read(source, count=10)) == 10
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        admin.delete_topics([topic])
        assert read_for(source, 1.0) == []
        while topic in admin.list_topics():
            sleep(0.1)
    create_topic(broker.bootstrap, name=topic)
    produce(broker.bootstrap, topic, messages(n_new))
    with pytest.raises(SourceError, match=rf"topic {topic}, .*\(offset 10\).*another folder"):
        read(source, count=1)


# Records


def test_keys_and_headers_change_nothing(broker, topic, open_source):
    """Headers are ignored: the value is the event, which a tombstone lacks."""
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
    for value in (b"value", None):
        producer.send(
            topic, key=b"\xff\x00", value=value, headers=[("trace", b"\x00\x01")], partition=0
        )
    producer.close()
    source = open_source(topic, stop_at_end=True)
    assert [(r.offset, r.payload) for r in read(source)] == [(0, b"value"), (1, None)]


@pytest.fixture(params=["gzip", "lz4", "snappy", "zstd"])
def compressed(request, broker):
    """A codec, and a topic of a thousand records that the broker compresses with it."""
    topic = create_topic(broker.bootstrap, configs={"compression.type": request.param})
    produce(broker.bootstrap, topic, messages(1_000, size=100))
    return request.param, topic


@pytest.mark.parametrize("client", [KafkaSource])  # librdkafka includes all codecs
def test_compressed_topics(compressed, open_source):
    """Compressed records are read in order, if their codec is installed."""
    codec, topic = compressed
    source = open_source(topic, stop_at_end=True)
    if not getattr(kafka.codec, f"has_{codec}")():
        pytest.skip(f"{codec} is not installed")
    assert numbers(read(source)) == list(range(1_000))


@pytest.mark.parametrize("compressed", ["zstd"], indirect=True)
@pytest.mark.parametrize("client", [KafkaSource])
def test_codec_that_is_not_installed(compressed, open_source, monkeypatch):
    """The error for a missing codec names the codec and the extra that installs it."""
    codec, topic = compressed
    monkeypatch.setattr(kafka.codec, "zstd", None)
    source = open_source(topic, stop_at_end=True)
    with pytest.raises(SourceError) as caught:
        read(source)
    assert str(caught.value) == (
        f"topic {topic} is compressed with a codec that is not installed (UnsupportedCodecError: "
        f"Libraries for {codec} compression codec not found): "
        "pip install 'iln-stream[compression]'"
    )


def test_big_records(broker, topic, open_source):
    """Records near the broker's limit are read completely, even if they exceed the fetch size."""
    values = [os.urandom(900_000) for _ in range(8)]
    assert len(gzip.compress(values[0])) > 890_000
    for value in values:
        produce(broker.bootstrap, topic, [(None, value)])
    for options in ({}, A_FEW_AT_A_TIME):
        source = open_source(topic, stop_at_end=True, options=options)
        assert [record.payload for record in read(source)] == values


# Outages


@WITH_DEFAULT_CLIENT
def test_a_broker_goes_and_comes_back(stoppable, open_source):
    """After an outage in the middle of a stream no record is lost or repeated."""
    topic = create_topic(stoppable.bootstrap)
    produce(stoppable.bootstrap, topic, messages(2_000, size=100))
    source = open_source(topic, bootstrap=stoppable.bootstrap, options=A_FEW_AT_A_TIME)
    records = read(source, count=500)
    stoppable.kill()
    records += read_for(source, 2.0)
    assert len(records) < 2_000, "all records were fetched before the outage"
    assert read_for(source, 1.0) == []
    stoppable.start()
    produce(stoppable.bootstrap, topic, messages(1_000, first=2_000))
    records += read(source, count=3_000 - len(records))
    assert numbers(records) == list(range(3_000))
    assert offsets(records) == list(range(3_000))
    assert read_for(source, 0.5) == []
    assert source.lag == 0


@pytest.mark.thorough
@WITH_DEFAULT_CLIENT
def test_a_broker_away_at_the_end_is_no_end(stoppable, open_source):
    """An outage does not count as the end for `stop_at_end`."""
    topic = create_topic(stoppable.bootstrap)
    produce(stoppable.bootstrap, topic, messages(2_000, size=100))
    source = open_source(
        topic, bootstrap=stoppable.bootstrap, stop_at_end=True, options=A_FEW_AT_A_TIME
    )
    assert source.connected
    stoppable.stop()
    records = read_for(source, 2.0)
    assert not source.exhausted
    assert not source.connected
    stoppable.start()
    assert numbers(records + read(source)) == list(range(2_000))
    assert source.connected
