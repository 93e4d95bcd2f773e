"""Sinks: a micro-batch that comes again adds nothing."""

import pytest
from support.kafka_topics import create_topic, produce, read_topic

from iln_stream.errors import SinkError
from iln_stream.spark.sinks import FolderSink, LogSink, sink_at
from iln_stream.streams import StreamOptions, stream_at

COLUMNS = "key BINARY, kind STRING, partition INT, offset BIGINT, value BINARY"


def batch(spark, offsets, kind="prediction"):
    rows = [(b"k%d" % (o % 3), kind, 0, o, b"v%d" % o) for o in offsets]
    return spark.createDataFrame(rows, COLUMNS)


@pytest.fixture
def source(broker):
    """A topic with ten records, as a log to learn."""
    topic = create_topic(broker.bootstrap)
    produce(broker.bootstrap, topic, [(b"k", b"{}")] * 10)
    return stream_at(f"kafka:{topic}", StreamOptions(bootstrap=broker.bootstrap))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", ["kafka", "sqlite"])
def test_logs_get_each_message_once(spark, broker, source, tmp_path, kind):
    """A killed driver writes a micro-batch again, wholly or from its middle on: nothing doubles."""
    options = source.options
    if kind == "kafka":
        predictions = f"kafka:{create_topic(broker.bootstrap)}"
        letters = f"kafka:{create_topic(broker.bootstrap)}"
    else:
        predictions, letters = (f"sqlite:{tmp_path / 'out.db'}#{name}" for name in ("p", "d"))
    first = sink_at(predictions, letters, source, options)
    assert isinstance(first, LogSink)
    first.write(batch(spark, [2, 0, 1]), 0)
    first.write(batch(spark, [3], "dead letter"), 1)
    first.close()
    second = sink_at(predictions, letters, source, options)
    second.write(batch(spark, [0, 2, 1]), 0)
    second.write(batch(spark, [3], "dead letter"), 1)
    second.write(batch(spark, [2, 5, 4]), 2)
    second.close()
    found = {}
    for address in (predictions, letters):
        if kind == "kafka":
            records = read_topic(broker.bootstrap, address.removeprefix("kafka:"))
            found[address] = [record.value for record in records]
        else:
            log = stream_at(address, options).written()
            found[address] = [record.payload for record in iter_all(log)]
    assert found[predictions] == [b"v0", b"v1", b"v2", b"v4", b"v5"]
    assert found[letters] == [b"v3"]


def iter_all(log):
    while not log.exhausted:
        yield from log.poll(0.1)
    log.close()


@pytest.mark.timeout(600)
def test_folder_of_a_repeated_batch_is_replaced(spark, tmp_path):
    """Its number names its folder, so that reading all folders finds each message once."""
    sink = FolderSink(str(tmp_path / "out"))
    sink.write(batch(spark, [0, 1]), 0)
    sink.write(batch(spark, [2]), 1)
    sink.write(batch(spark, [2, 3]), 1)
    sink.close()
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(row.offset for row in found) == [0, 1, 2, 3]


def test_a_file_is_no_sink(source, tmp_path):
    """A file without transactions would have messages twice after a crash."""
    with pytest.raises(SinkError, match="has no transactions"):
        sink_at(str(tmp_path / "p.jsonl"), None, source, source.options)
