"""Both Kafka sources on a real broker: each committed record once, in order, or an error."""

import datetime as dt
import gzip
import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from time import monotonic, sleep
from typing import Any, Protocol

import kafka.codec
import pytest
from kafka import KafkaAdminClient, KafkaProducer, TopicPartition
from river import dummy, stats
from support.kafka_broker import KafkaBroker
from support.kafka_topics import TransactionalWriter, create_topic, produce, unique_topic

from iln_stream.errors import SourceError
from iln_stream.loop import Listener, PrequentialLoop
from iln_stream.records import DeadLetter
from iln_stream.streams import Record
from iln_stream.streams.kafka import KafkaSource
from iln_stream.streams.kafka import consumer as partition_module
from iln_stream.streams.kafka.confluent import ConfluentSource

Client = type[KafkaSource | ConfluentSource]

NOBODY_LISTENS_HERE = "127.0.0.1:1"
A_FEW_AT_A_TIME = {"max_poll_records": 100, "max_partition_fetch_bytes": 5_000}


class Open(Protocol):
    def __call__(self, topic: str, **arguments: Any) -> KafkaSource: ...


@pytest.fixture(params=[KafkaSource, ConfluentSource])
def client(request: pytest.FixtureRequest) -> Client:
    """Both sources must behave alike."""
    return request.param


@pytest.fixture
def open_source(broker: KafkaBroker, client: Client) -> Iterator[Open]:
    """Opens sources on the shared broker, or another, and closes them after the test."""
    with ExitStack() as opened:

        def open_one(topic: str, **arguments: Any) -> KafkaSource:
            given = {"bootstrap": broker.bootstrap, "start": "earliest", **arguments}
            source = client(topic, **given)
            opened.callback(source.close)
            return source

        yield open_one


def messages(count: int, first: int = 0, size: int = 0) -> list[tuple[None, bytes]]:
    return [(None, b"%d" % number + b" " * size) for number in range(first, first + count)]


def read(source: KafkaSource, count: int | None = None, within: float = 30.0) -> list[Record]:
    """Poll until `count` records have come, or until the source is exhausted."""
    records: list[Record] = []
    deadline = monotonic() + within
    while (len(records) < count) if count is not None else (not source.exhausted):
        assert monotonic() < deadline, f"only {len(records)} records within {within} s"
        records += source.poll(0.2)
    return records


def read_for(source: KafkaSource, seconds: float) -> list[Record]:
    records: list[Record] = []
    deadline = monotonic() + seconds
    while monotonic() < deadline:
        records += source.poll(0.1)
    return records


def numbers(records: list[Record]) -> list[int]:
    return [int(record.payload) for record in records]


def offsets(records: list[Record]) -> list[int]:
    return [record.offset for record in records]


# Order and completeness


def test_each_record_comes_once_in_offset_order(
    broker: KafkaBroker, topic: str, open_source: Open
) -> None:
    """Over many fetches no record is lost, repeated or reordered."""
    produce(broker.bootstrap, topic, messages(5_000))
    source = open_source(topic, stop_at_end=True, options={"max_partition_fetch_bytes": 4_000})
    records = read(source)
    assert numbers(records) == list(range(5_000))
    assert offsets(records) == list(range(5_000))
    assert source.lag == 0


@pytest.mark.parametrize("tail", ["commit", "abort"])
def test_gaps_hide_nothing(broker: KafkaBroker, topic: str, open_source: Open, tail: str) -> None:
    """Transaction markers and aborted records are skipped, also at the end of the topic."""
    sent: dict[int, bytes] = {}
    with TransactionalWriter(broker.bootstrap) as writer:
        for round_ in range(30):
            batch = messages(20, first=20 * round_)
            sent.update(zip(writer.commit(topic, batch), (v for _, v in batch), strict=True))
            writer.abort(topic, [(None, b"never happened")] * 7)
        if tail == "commit":
            sent[writer.commit(topic, [(None, b"600")])[0]] = b"600"
    source = open_source(topic, stop_at_end=True, options=A_FEW_AT_A_TIME)
    records = read(source)
    assert {record.offset: record.payload for record in records} == sent
    assert offsets(records) == sorted(sent)
    assert source.lag == 0


@pytest.mark.parametrize("tail", ["commit", "abort"])
def test_lag_falls_to_0_after_skipped_records(
    broker: KafkaBroker, topic: str, open_source: Open, tail: str
) -> None:
    """The lag falls to 0 even if the topic ends with a marker or with aborted records."""
    source = open_source(topic)
    with TransactionalWriter(broker.bootstrap) as writer:
        writer.commit(topic, messages(10))
        if tail == "abort":
            writer.abort(topic, messages(10))
    assert numbers(read(source, count=10)) == list(range(10))
    assert read_for(source, 1.0) == []
    assert source.lag == 0
    assert not source.exhausted


def test_lag_has_records_that_came_while_fetched_ones_were_read(
    broker: KafkaBroker, topic: str, open_source: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_an_open_transaction_is_waited_for(
    broker: KafkaBroker, topic: str, open_source: Open
) -> None:
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


def test_a_growing_topic_ends_where_its_end_was(
    broker: KafkaBroker, topic: str, open_source: Open
) -> None:
    """`stop_at_end` ends at the end at the start, even if the topic keeps growing."""
    produce(broker.bootstrap, topic, messages(500))
    source = open_source(topic, stop_at_end=True)
    too_late = [(None, b"-1")] * 100
    enough = threading.Event()

    def go_on_writing() -> None:
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


def test_only_one_partition_is_read(broker: KafkaBroker, open_source: Open) -> None:
    """A source reads only its partition."""
    topic = create_topic(broker.bootstrap, partitions=3)
    for partition in range(3):
        produce(broker.bootstrap, topic, messages(50, first=100 * partition), partition=partition)
    source = open_source(topic, partition=1, stop_at_end=True)
    assert numbers(read(source)) == list(range(100, 150))
    assert source.partition == 1


# Start


@pytest.fixture
def topic_of_2001(broker: KafkaBroker, topic: str) -> str:
    """Ten records, one per hour from the beginning of 2001."""
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
    for hour in range(10):
        at = dt.datetime(2001, 1, 1, hour, tzinfo=dt.UTC)
        producer.send(
            topic, b"%d" % hour, partition=0, timestamp_ms=int(at.timestamp() * 1000)
        ).get(30)
    producer.close()
    return topic


@pytest.mark.parametrize(
    ("start", "first"),
    [
        ("earliest", 0),
        (dt.datetime(2000, 1, 1, tzinfo=dt.UTC), 0),
        (dt.datetime(2001, 1, 1, 4, 0, tzinfo=dt.UTC), 4),
        (dt.datetime(2001, 1, 1, 4, 1, tzinfo=dt.UTC), 5),
        (dt.datetime(2001, 1, 1, 6, 1, tzinfo=dt.timezone(dt.timedelta(hours=2))), 5),
        (dt.datetime(2001, 1, 2, tzinfo=dt.UTC), 10),
        ("latest", 10),
    ],
)
def test_start(
    broker: KafkaBroker,
    topic_of_2001: str,
    open_source: Open,
    start: str | dt.datetime,
    first: int,
) -> None:
    """Reading starts exactly at `start`, even if all records are older."""
    source = open_source(topic_of_2001, start=start)
    assert source.lag == 10 - first
    produce(broker.bootstrap, topic_of_2001, messages(1, first=10))
    assert numbers(read(source, count=11 - first)) == list(range(first, 11))


def test_latest_is_exhausted_at_once(broker: KafkaBroker, topic: str, open_source: Open) -> None:
    """With start at the latest record and `stop_at_end`, the source is exhausted at once."""
    produce(broker.bootstrap, topic, messages(3))
    source = open_source(topic, start="latest", stop_at_end=True)
    assert source.exhausted
    assert source.poll(0.1) == []


def test_start_is_required(broker: KafkaBroker, topic: str, client: Client) -> None:
    """`start` is required, because a default would silently skip or repeat records."""
    with pytest.raises(SourceError, match=r"start: choose where in topic .* to begin"):
        client(topic, bootstrap=broker.bootstrap, start=None)


# Errors


def test_unknown_topic(broker: KafkaBroker, client: Client) -> None:
    """A misspelt topic is an error; it is not created."""
    name = unique_topic("misspelt")
    with pytest.raises(SourceError, match=f"no topic '{name}' at {broker.bootstrap}"):
        client(name, bootstrap=broker.bootstrap, start="earliest")
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap) as admin:
        assert name not in admin.list_topics()


def test_unknown_partition(broker: KafkaBroker, topic: str, client: Client) -> None:
    """The error for a missing partition has the existing partitions."""
    with pytest.raises(SourceError, match=r"has partitions \[0\], not 3"):
        client(topic, 3, bootstrap=broker.bootstrap, start="earliest")


def test_no_broker(client: Client) -> None:
    """Without a broker there is an error with the address, after about ten seconds."""
    before = monotonic()
    with pytest.raises(SourceError, match=f"no Kafka broker answers at {NOBODY_LISTENS_HERE}"):
        client("any", bootstrap=NOBODY_LISTENS_HERE, start="earliest")
    assert monotonic() - before < 15


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
def test_options_that_order_depends_on_are_refused(
    topic: str, option: dict[str, Any], client: Client
) -> None:
    """No option can make the source jump, skip records or read aborted ones."""
    with pytest.raises(SourceError, match=rf"kafka_options: {next(iter(option))} can't be set"):
        client(topic, bootstrap=NOBODY_LISTENS_HERE, start="earliest", options=option)


@pytest.mark.parametrize(
    "option", [{"max_poll_record": 5}, {"fetch_max_wait_ms": 10**6}, {"api_version": "x"}]
)
def test_wrong_options_are_errors(
    broker: KafkaBroker, topic: str, open_source: Open, client: Client, option: dict[str, Any]
) -> None:
    """A misspelt or invalid option is a SourceError that names the option or the setting."""
    if "api_version" in option and client is ConfluentSource:
        pytest.skip("only kafka-python has this option")
    with pytest.raises(SourceError, match=next(iter(option)) + "|kafka_options"):
        open_source(topic, options=option)


def test_options_are_shared_with_the_sinks(
    broker: KafkaBroker, topic: str, open_source: Open
) -> None:
    """Options of producers do not break the source."""
    produce(broker.bootstrap, topic, messages(1))
    options = {"security_protocol": "PLAINTEXT", "compression_type": "gzip", "linger_ms": 5}
    assert numbers(read(open_source(topic, options=options, stop_at_end=True))) == [0]


def delete_before(bootstrap: str, topic: str, offset: int) -> None:
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        admin.delete_records({TopicPartition(topic, 0): offset})


def test_retention_that_passed_the_start_is_an_error(
    broker: KafkaBroker, topic: str, open_source: Open
) -> None:
    """If retention deleted records before they were read, each poll raises an error."""
    produce(broker.bootstrap, topic, messages(50))
    source = open_source(topic)
    if isinstance(source, ConfluentSource):
        pytest.skip("prefetches the records before they are deleted")
    delete_before(broker.bootstrap, topic, 30)
    for _ in range(2):
        with pytest.raises(SourceError, match=r"offset 0 is no longer .*retention.*earliest"):
            read_for(source, 5.0)


def test_retention_that_overtakes_is_an_error(
    broker: KafkaBroker, topic: str, open_source: Open
) -> None:
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


@pytest.mark.parametrize("n_new", [5, 50])
def test_a_recreated_topic_is_an_error(
    broker: KafkaBroker, topic: str, open_source: Open, n_new: int
) -> None:
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


def test_a_tombstone_is_a_dead_letter(broker: KafkaBroker, topic: str, open_source: Open) -> None:
    """A record without a value becomes a dead letter and does not stop the loop."""
    produce(broker.bootstrap, topic, [(b"deleted", None)])
    letters: list[DeadLetter] = []

    class Collecting(Listener):
        def on_dead_letter(self, letter: DeadLetter) -> None:
            letters.append(letter)

    source = open_source(topic, stop_at_end=True)
    PrequentialLoop(source, dummy.StatisticRegressor(stats.Mean()), [Collecting()]).run()
    (letter,) = letters
    assert (letter.stream, letter.partition, letter.offset) == (topic, 0, 0)
    assert "no value" in letter.reason
    assert letter.payload == ""


def test_keys_and_headers_change_nothing(
    broker: KafkaBroker, topic: str, open_source: Open
) -> None:
    """Keys and headers are ignored: the value is the event."""
    producer = KafkaProducer(bootstrap_servers=broker.bootstrap)
    producer.send(
        topic,
        key=b"\xff\x00",
        value=b"value",
        headers=[("trace", b"\x00\x01")],
        partition=0,
    )
    producer.close()
    source = open_source(topic, stop_at_end=True)
    assert [(record.offset, record.payload) for record in read(source)] == [(0, b"value")]


@pytest.fixture(params=["gzip", "lz4", "snappy", "zstd"])
def compressed(request: pytest.FixtureRequest, broker: KafkaBroker) -> tuple[str, str]:
    """A codec, and a topic of a thousand records that the broker compresses with it."""
    topic = create_topic(broker.bootstrap, configs={"compression.type": request.param})
    produce(broker.bootstrap, topic, messages(1_000, size=100))
    return request.param, topic


def test_compressed_topics(compressed: tuple[str, str], open_source: Open) -> None:
    """Compressed records are read in order, if their codec is installed."""
    codec, topic = compressed
    source = open_source(topic, stop_at_end=True)
    # librdkafka includes all codecs
    if isinstance(source, KafkaSource) and not getattr(kafka.codec, f"has_{codec}")():
        pytest.skip(f"{codec} is not installed")
    assert numbers(read(source)) == list(range(1_000))


@pytest.mark.parametrize("compressed", ["lz4", "snappy", "zstd"], indirect=True)
@pytest.mark.parametrize("client", [KafkaSource])
def test_codec_that_is_not_installed(
    compressed: tuple[str, str], open_source: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error for a missing codec names the codec and the extra that installs it."""
    codec, topic = compressed
    for library in ("lz4", "lz4f", "lz4framed", "snappy", "zstd"):
        monkeypatch.setattr(kafka.codec, library, None)
    source = open_source(topic, stop_at_end=True)
    with pytest.raises(SourceError) as caught:
        read(source)
    assert str(caught.value) == (
        f"topic {topic} is compressed with a codec that is not installed (UnsupportedCodecError: "
        f"Libraries for {codec} compression codec not found): "
        "pip install 'iln-stream[compression]'"
    )


def test_big_records(broker: KafkaBroker, topic: str, open_source: Open) -> None:
    """Records near the broker's limit are read completely, even if they exceed the fetch size."""
    values = [os.urandom(900_000) for _ in range(20)]
    assert len(gzip.compress(values[0])) > 890_000
    for value in values:
        produce(broker.bootstrap, topic, [(None, value)])
    for options in ({}, A_FEW_AT_A_TIME):
        source = open_source(topic, stop_at_end=True, options=options)
        assert [record.payload for record in read(source)] == values


# Outages


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_a_broker_goes_and_comes_back(stoppable: KafkaBroker, open_source: Open, way: str) -> None:
    """After an outage in the middle of a stream no record is lost or repeated."""
    topic = create_topic(stoppable.bootstrap)
    produce(stoppable.bootstrap, topic, messages(2_000, size=100))
    source = open_source(topic, bootstrap=stoppable.bootstrap, options=A_FEW_AT_A_TIME)
    records = read(source, count=500)
    getattr(stoppable, way)()
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


def test_a_broker_away_at_the_end_is_no_end(stoppable: KafkaBroker, open_source: Open) -> None:
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
