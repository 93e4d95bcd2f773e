"""`KafkaSink` on a real broker: it stores messages in order and once, or raises an error."""

import threading
from contextlib import ExitStack, suppress
from time import monotonic, sleep

import pytest
from kafka import KafkaAdminClient
from support.kafka_topics import create_topic, read_topic, unique_topic

from iln_stream.errors import SinkError
from iln_stream.streams.kafka import KafkaSink

NOBODY_LISTENS_HERE = "127.0.0.1:1"
IMPATIENT = {"request_timeout_ms": 1_000, "delivery_timeout_ms": 2_000, "max_block_ms": 2_000}


@pytest.fixture(params=["kafka-python", "confluent"])
def client(request):
    """The library of the producer."""
    return request.param


@pytest.fixture
def open_sink(broker, client):
    """Opens sinks on the shared broker, or another, and closes them after the test."""
    with ExitStack() as opened:

        def open_one(topic, **arguments):
            sink = KafkaSink(
                topic, **{"bootstrap": broker.bootstrap, "client": client, **arguments}
            )
            opened.callback(_close, sink)
            return sink

        yield open_one


WITH_DEFAULT_CLIENT = pytest.mark.parametrize(
    "client", ["kafka-python", pytest.param("confluent", marks=pytest.mark.thorough)], indirect=True
)
"""What takes long, `make test` has with the default client only."""


def _close(sink):
    with suppress(SinkError):  # a sink that failed in the test still fails
        sink.close()


def values(bootstrap, topic):
    return [record.value for record in read_topic(bootstrap, topic)]


def n_partitions(bootstrap, topic):
    with KafkaAdminClient(bootstrap_servers=bootstrap) as admin:
        (found,) = admin.describe_topics([topic])
        return len(found["partitions"])


def test_sending_does_not_wait_for_the_broker(stoppable, open_sink):
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


def test_stored_in_order_when_flush_returns(broker, topic, open_sink):
    """After `flush` the broker has all messages in order, with their keys."""
    sink = open_sink(topic, options={"linger_ms": 60_000})
    sent = [(f"key-{i}" if i % 2 else None, b"%d" % i) for i in range(5_000)]
    for key, value in sent:
        sink.write(key, value)
    sink.flush()
    found = [(record.key, record.value) for record in read_topic(broker.bootstrap, topic)]
    assert found == [(key and key.encode(), value) for key, value in sent]
    sink.write(None, b"the last")
    sink.close()  # stores the rest
    assert values(broker.bootstrap, topic)[-1] == b"the last"


@pytest.mark.parametrize(
    "option", [{"lingerms": 5}, {"compression_type": "bzip"}, {"api_version": "x"}]
)
def test_wrong_options_are_errors(broker, topic, client, option):
    """A misspelt or invalid option is a SinkError that names the setting."""
    with pytest.raises(SinkError, match="kafka_options: "):
        KafkaSink(topic, bootstrap=broker.bootstrap, options=option, client=client)


def test_no_broker():
    """Without a broker there is an error with the address, within the time in the options."""
    before = monotonic()
    with pytest.raises(SinkError, match=f"no Kafka broker answers at {NOBODY_LISTENS_HERE}"):
        KafkaSink("any", bootstrap=NOBODY_LISTENS_HERE, options={"bootstrap_timeout_ms": 1_000})
    assert monotonic() - before < 5


def test_several_may_create_the_topic(broker, open_sink):
    """Several sinks can create an absent topic at the same time; it has a single partition, which
    keeps the order."""
    name = unique_topic("new")
    sinks = []
    threads = [threading.Thread(target=lambda: sinks.append(open_sink(name))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sinks) == 4
    assert n_partitions(broker.bootstrap, name) == 1


def test_the_partition_of_the_record(broker, open_sink):
    """A topic is created with the partitions of the source, or left as it is, and each message goes
    to the partition of its record; partition 0 takes those of partitions that the topic lacks."""
    topic = unique_topic()
    for n, number in ((3, 2), (4, 3)):
        sink = open_sink(topic, n_partitions=n)
        sink.write_all([(number, "k", b"%d" % number)])
        sink.close()
    assert n_partitions(broker.bootstrap, topic) == 3
    (kept,) = read_topic(broker.bootstrap, topic, 2)
    assert (kept.value, kept.key) == (b"2", b"k")
    assert values(broker.bootstrap, topic) == [b"3"]


# Messages that are refused


def test_a_message_too_large_for_the_client(broker, topic, open_sink):
    """A message that can't be sent is an error at once; only those before it are stored, also of
    messages that are written together."""
    sink = open_sink(topic, options={"linger_ms": 60_000})
    sink.write(None, b"before")
    together = [(0, None, value) for value in (b"just before", b"x" * 2_000_000, b"just after")]
    with pytest.raises(SinkError, match=f"topic {topic} did not take a message: .*2000"):
        sink.write_all(together)
    with pytest.raises(SinkError, match="did not take"):
        sink.write(None, b"after")
    with pytest.raises(SinkError, match="did not take"):
        sink.flush()
    with pytest.raises(SinkError, match="did not take"):
        sink.close()
    assert values(broker.bootstrap, topic) == [b"before", b"just before"]


def test_a_message_too_large_for_the_topic(broker, open_sink):
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


def test_a_refusal_in_the_background_fails_write(broker, open_sink):
    """If a message was refused, `write` raises an error even without `flush`."""
    name = create_topic(broker.bootstrap, configs={"max.message.bytes": "1000"})
    sink = open_sink(name)
    sink.write(None, b"x" * 5_000)
    with pytest.raises(SinkError, match="did not take"):  # noqa: PT012
        for _ in range(100):
            sleep(0.1)
            sink.write(None, b"small")


# Brokers that go away


@pytest.mark.thorough
@WITH_DEFAULT_CLIENT
def test_an_outage_at_flush_is_an_error_in_time(stoppable, open_sink):
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


@WITH_DEFAULT_CLIENT
def test_a_short_outage_loses_and_repeats_nothing(stoppable, open_sink):
    """Messages written before, during and after an outage are each stored once, in order."""
    name = create_topic(stoppable.bootstrap)
    sink = open_sink(name, bootstrap=stoppable.bootstrap)
    for number in range(1_000):
        sink.write(None, b"%d" % number)
    stoppable.kill()
    for number in range(1_000, 2_000):
        sink.write(None, b"%d" % number)
    stoppable.start()
    for number in range(2_000, 3_000):
        sink.write(None, b"%d" % number)
    sink.flush()
    assert values(stoppable.bootstrap, name) == [b"%d" % number for number in range(3_000)]
