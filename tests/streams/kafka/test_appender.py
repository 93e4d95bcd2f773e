"""Appending to a topic: positions, partitions by key, times, and brokers that go away."""

import time

import pytest
from kafka import KafkaProducer
from support.kafka_topics import create_topic, read_topic, unique_topic

from iln_stream.errors import SinkError
from iln_stream.streams import NewRecord, StreamOptions, stream_at
from iln_stream.streams.kafka import KafkaAppender


@pytest.fixture
def appender(broker):
    """An appender to a new topic with four partitions."""
    opened = KafkaAppender(create_topic(broker.bootstrap, 4), bootstrap=broker.bootstrap)
    yield opened
    opened.close()


def test_each_record_is_where_it_says(broker, appender):
    """The partition and the offset of each record are those at which a consumer reads it."""
    records = [NewRecord(b"%d" % i, key=f"id-{i}", id=f"id-{i}") for i in range(20)]
    places = appender.append(records)
    assert len({place.partition for place in places}) > 1
    found = {
        (partition, each.offset): (each.key.decode(), each.value)
        for partition in range(4)
        for each in read_topic(broker.bootstrap, appender.stream, partition)
    }
    assert [found[place[:2]] for place in places] == [(each.key, each.value) for each in records]


def test_a_record_may_name_its_partition(appender):
    """A record goes to the partition that it names, whatever its key."""
    places = appender.append([NewRecord(b"1", key="a", partition=n) for n in range(4)])
    assert [place.partition for place in places] == [0, 1, 2, 3]


def test_order_and_partition_of_a_key(broker, appender):
    """Records of a key go to one partition in their order, over several calls; the partition is
    the one that other producers choose."""
    places = [p for _ in range(3) for p in appender.append([NewRecord(b"1", key="a")] * 40)]
    assert len({place.partition for place in places}) == 1
    offsets = [place.offset for place in places]
    assert offsets == list(range(120))
    other = KafkaProducer(bootstrap_servers=broker.bootstrap)
    assert places[0].partition == other.send(appender.stream, b"1", key=b"a").get(30).partition
    other.close()


def test_times_and_missing_keys(broker, topic):
    """A record's time is stored; without one it is now. A record needs no key."""
    appender = stream_at(f"kafka:{topic}", StreamOptions(bootstrap=broker.bootstrap)).appender()
    before = time.time()
    appender.append([NewRecord(b"1", timestamp=1234.5), NewRecord(b"2", key="k\udcff")])
    assert appender.append([]) == []
    appender.close()
    first, second = read_topic(broker.bootstrap, topic)
    assert (first.key, first.timestamp) == (None, 1_234_500)
    assert second.key == b"k\xff"
    assert before - 1 <= second.timestamp / 1000 <= time.time() + 1


def test_repeats_are_appended(topic, broker):
    """A broker can't find an id again: a repeat is a new record, and is reported as one."""
    appender = KafkaAppender(topic, bootstrap=broker.bootstrap)
    places = [
        *appender.append([NewRecord(b"1", id="a")]),
        *appender.append([NewRecord(b"1", id="a")]),
    ]
    appender.close()
    assert [(place.offset, place.is_new) for place in places] == [(0, True), (1, True)]


def test_topic_that_does_not_exist(broker):
    """A missing topic is created, as for a sink."""
    appender = KafkaAppender(unique_topic(), bootstrap=broker.bootstrap)
    (place,) = appender.append([NewRecord(b"1", key="a")])
    appender.close()
    assert place == (0, 0, True)


def test_record_that_is_too_large(broker, appender):
    """A record that the broker refuses is an error, never a silent loss; a new appender works."""
    with pytest.raises(SinkError, match=f"topic {appender.stream} did not take a record"):
        appender.append([NewRecord(b"1"), NewRecord(b"a" * (2 << 20))])
    with pytest.raises(SinkError, match="an earlier append failed"):
        appender.append([NewRecord(b"1")])
    again = KafkaAppender(appender.stream, bootstrap=broker.bootstrap)
    assert len(again.append([NewRecord(b"2")])) == 1
    again.close()


def test_no_broker():
    """Without a broker, opening fails in bounded time, and the error names the address."""
    with pytest.raises(SinkError, match=r"no Kafka broker answers at 127\.0\.0\.1:1"):
        KafkaAppender("a", bootstrap="127.0.0.1:1", options={"bootstrap_timeout_ms": 500})


@pytest.mark.thorough
def test_broker_that_goes_away(stoppable):
    """A broker killed between two appends makes the second one fail in bounded time; once it is
    back, a new appender appends, and all acknowledged records are there."""
    topic = create_topic(stoppable.bootstrap)
    options = {"delivery_timeout_ms": 3_000, "request_timeout_ms": 2_000}
    appender = KafkaAppender(topic, bootstrap=stoppable.bootstrap, options=options)
    kept = list(appender.append([NewRecord(b"kept")] * 10))
    stoppable.kill()
    began = time.monotonic()
    with pytest.raises(SinkError):
        appender.append([NewRecord(b"unsure")])
    appender.close()
    assert time.monotonic() - began < 60
    stoppable.start()
    again = KafkaAppender(topic, bootstrap=stoppable.bootstrap)
    kept += again.append([NewRecord(b"kept")])
    again.close()
    values = {record.offset: record.value for record in read_topic(stoppable.bootstrap, topic)}
    assert [values[place.offset] for place in kept] == [b"kept"] * 11
