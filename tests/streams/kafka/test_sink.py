"""`KafkaSink` on a real broker: it stores messages in order and once, or raises an error."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from time import monotonic, sleep
from typing import Any, Protocol, cast

import pytest
from kafka import KafkaAdminClient
from support.kafka_broker import KafkaBroker
from support.kafka_topics import create_topic, read_topic, unique_topic

from iln_stream.errors import SinkError
from iln_stream.streams.addresses import KafkaClient
from iln_stream.streams.kafka import KafkaSink

NOBODY_LISTENS_HERE = "127.0.0.1:1"
IMPATIENT = {"request_timeout_ms": 1_000, "delivery_timeout_ms": 2_000, "max_block_ms": 2_000}


class Open(Protocol):
    def __call__(self, topic: str, **arguments: Any) -> KafkaSink: ...


@pytest.fixture(params=["kafka-python", "confluent"])
def client(request: pytest.FixtureRequest) -> KafkaClient:
    """The library of the producer."""
    return cast(KafkaClient, request.param)


@pytest.fixture
def open_sink(broker: KafkaBroker, client: KafkaClient) -> Iterator[Open]:
    """Opens sinks on the shared broker, or another, and closes them after the test."""
    with ExitStack() as opened:

        def open_one(topic: str, **arguments: Any) -> KafkaSink:
            sink = KafkaSink(
                topic, **{"bootstrap": broker.bootstrap, "client": client, **arguments}
            )
            opened.callback(_close, sink)
            return sink

        yield open_one


def _close(sink: KafkaSink) -> None:
    with suppress(SinkError):  # a sink that failed in the test still fails
        sink.close()


def values(bootstrap: str, topic: str) -> list[bytes]:
    return [record.value for record in read_topic(bootstrap, topic)]


def n_partitions(bootstrap: str, topic: str) -> int:
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        (found,) = admin.describe_topics([topic])
        return len(found["partitions"])


def test_sending_does_not_wait_for_the_broker(stoppable: KafkaBroker, open_sink: Open) -> None:
    """During an outage `send_queued` returns at once, so that the loop notices the outage."""
    topic = unique_topic()
    sink = open_sink(topic, bootstrap=stoppable.bootstrap)
    sink.write(None, b"before")
    sink.flush()
    with stoppable.paused():
        sink.write(None, b"meanwhile")
        began = monotonic()
        sink.send_queued()
        assert monotonic() - began < 1
    sink.flush()
    assert values(stoppable.bootstrap, topic) == [b"before", b"meanwhile"]


def test_stored_in_order_when_flush_returns(
    broker: KafkaBroker, topic: str, open_sink: Open
) -> None:
    """After `flush` the broker has all messages in order, with their keys."""
    sink = open_sink(topic, options={"linger_ms": 60_000})
    sent = [(f"key-{i}" if i % 2 else None, b"%d" % i) for i in range(5_000)]
    for key, value in sent:
        sink.write(key, value)
    sink.flush()
    found = [(record.key, record.value) for record in read_topic(broker.bootstrap, topic)]
    assert found == [(key and key.encode(), value) for key, value in sent]


def test_close_stores_the_rest(broker: KafkaBroker, topic: str, client: KafkaClient) -> None:
    """`close` stores messages even without `flush`."""
    options = {"linger_ms": 60_000}
    sink = KafkaSink(topic, bootstrap=broker.bootstrap, options=options, client=client)
    sink.write(None, b"the last")
    sink.close()
    assert values(broker.bootstrap, topic) == [b"the last"]


def test_an_absent_topic_is_created(broker: KafkaBroker, open_sink: Open) -> None:
    """A new topic has a single partition, which keeps the order."""
    name = unique_topic("new")
    sink = open_sink(name)
    sink.write(None, b"first")
    sink.flush()
    assert n_partitions(broker.bootstrap, name) == 1
    assert values(broker.bootstrap, name) == [b"first"]


def test_several_may_create_the_topic(broker: KafkaBroker, open_sink: Open) -> None:
    """Several sinks can create the same topic at the same time."""
    name = unique_topic("new")
    sinks: list[KafkaSink] = []
    threads = [threading.Thread(target=lambda: sinks.append(open_sink(name))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sinks) == 4
    assert n_partitions(broker.bootstrap, name) == 1


def test_an_existing_topic_is_left_as_it_is(broker: KafkaBroker, open_sink: Open) -> None:
    """An existing topic keeps its partitions and messages; ours are appended."""
    name = create_topic(broker.bootstrap, partitions=3)
    for value in (b"one", b"two"):
        sink = open_sink(name)
        sink.write("any key", value)
        sink.flush()
    assert n_partitions(broker.bootstrap, name) == 3
    assert values(broker.bootstrap, name) == [b"one", b"two"]


def test_options_are_shared_with_the_source(
    broker: KafkaBroker, topic: str, open_sink: Open
) -> None:
    """Options of only one client do not break the others."""
    options = {"security_protocol": "PLAINTEXT", "max_poll_records": 7, "linger_ms": 0}
    sink = open_sink(topic, options=options)
    sink.write(None, b"stored")
    sink.flush()
    assert values(broker.bootstrap, topic) == [b"stored"]


@pytest.mark.parametrize(
    "option", [{"lingerms": 5}, {"compression_type": "bzip"}, {"api_version": "x"}]
)
def test_wrong_options_are_errors(
    broker: KafkaBroker, topic: str, client: KafkaClient, option: dict[str, Any]
) -> None:
    """A misspelt or invalid option is a SinkError that names the setting."""
    with pytest.raises(SinkError, match="kafka_options: "):
        KafkaSink(topic, bootstrap=broker.bootstrap, options=option, client=client)


def test_no_broker() -> None:
    """Without a broker there is an error with the address, within the time in the options."""
    before = monotonic()
    with pytest.raises(SinkError, match=f"no Kafka broker answers at {NOBODY_LISTENS_HERE}"):
        KafkaSink("any", bootstrap=NOBODY_LISTENS_HERE, options={"bootstrap_timeout_ms": 1_000})
    assert monotonic() - before < 5


# Messages that are refused


def test_a_message_too_large_for_the_client(
    broker: KafkaBroker, topic: str, open_sink: Open
) -> None:
    """A message that can't be sent is an error at once; only those before it are stored."""
    sink = open_sink(topic, options={"linger_ms": 60_000})
    sink.write(None, b"before")
    with pytest.raises(SinkError, match=f"topic {topic} did not take a message: .*2000"):
        sink.write(None, b"x" * 2_000_000)
    with pytest.raises(SinkError, match="did not take"):
        sink.write(None, b"after")
    with pytest.raises(SinkError, match="did not take"):
        sink.flush()
    with pytest.raises(SinkError, match="did not take"):
        sink.close()
    assert values(broker.bootstrap, topic) == [b"before"]


def test_a_message_too_large_for_the_topic(broker: KafkaBroker, open_sink: Open) -> None:
    """If the broker refuses a message, `flush` and all later calls fail."""
    name = create_topic(broker.bootstrap, configs={"max.message.bytes": "1000"})
    sink = open_sink(name)
    sink.write(None, b"small")
    sink.flush()
    sink.write(None, b"x" * 5_000)
    for _ in range(2):
        refusal = f"topic {name} did not take a message.*; raise max.message.bytes of the topic"
        with pytest.raises(SinkError, match=refusal):
            sink.flush()
    with pytest.raises(SinkError, match="did not take"):
        sink.write(None, b"small")
    with pytest.raises(SinkError, match="did not take"):
        sink.close()
    assert values(broker.bootstrap, name) == [b"small"]


def test_a_refusal_in_the_background_fails_write(broker: KafkaBroker, open_sink: Open) -> None:
    """If a message was refused, `write` raises an error even without `flush`."""
    name = create_topic(broker.bootstrap, configs={"max.message.bytes": "1000"})
    sink = open_sink(name)
    sink.write(None, b"x" * 5_000)
    with pytest.raises(SinkError, match="did not take"):  # noqa: PT012
        for _ in range(100):
            sleep(0.1)
            sink.write(None, b"small")


# Brokers that go away


def test_an_outage_at_flush_is_an_error_in_time(stoppable: KafkaBroker, open_sink: Open) -> None:
    """During an outage `flush` fails within the delivery time in the options."""
    name = create_topic(stoppable.bootstrap)
    sink = open_sink(name, bootstrap=stoppable.bootstrap, options=IMPATIENT)
    sink.write(None, b"before")
    sink.flush()
    stoppable.stop()
    before = monotonic()
    with pytest.raises(SinkError, match=name):  # noqa: PT012
        sink.write(None, b"lost")
        sink.flush()
    assert monotonic() - before < 10
    with pytest.raises(SinkError, match=name):
        sink.write(None, b"after")
    before = monotonic()
    with pytest.raises(SinkError, match=name):
        sink.close()
    assert monotonic() - before < 10
    stoppable.start()
    assert values(stoppable.bootstrap, name) == [b"before"]


@pytest.mark.parametrize("way", ["stop", "kill"])
def test_a_short_outage_loses_and_repeats_nothing(
    stoppable: KafkaBroker, open_sink: Open, way: str
) -> None:
    """Messages written before, during and after an outage are each stored once, in order."""
    name = create_topic(stoppable.bootstrap)
    sink = open_sink(name, bootstrap=stoppable.bootstrap)
    for number in range(1_000):
        sink.write(None, b"%d" % number)
    getattr(stoppable, way)()
    for number in range(1_000, 2_000):
        sink.write(None, b"%d" % number)
    stoppable.start()
    for number in range(2_000, 3_000):
        sink.write(None, b"%d" % number)
    sink.flush()
    assert values(stoppable.bootstrap, name) == [b"%d" % number for number in range(3_000)]


def test_the_partition_of_the_record(broker: KafkaBroker, open_sink: Open) -> None:
    """A topic is created with the partitions of the source, and each message goes to that of its
    record; partition 0 takes those of partitions that the topic lacks."""
    topic = unique_topic()
    for n, number in ((3, 2), (4, 3)):
        sink = open_sink(topic, n_partitions=n)
        sink.write_to(number, "k", b"%d" % number)
        sink.close()
    assert n_partitions(broker.bootstrap, topic) == 3
    (kept,) = read_topic(broker.bootstrap, topic, 2)
    assert (kept.value, kept.key) == (b"2", b"k")
    assert values(broker.bootstrap, topic) == [b"3"]
