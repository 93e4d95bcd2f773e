"""Topics of a file: list, create, trim; who reads and imports them."""

import sqlite3
import threading
import time
from contextlib import closing

import pytest
from support.embedded_log import append, read, values
from support.list_source import LIST

from iln_stream.errors import NoStreamError, SinkError, SourceError
from iln_stream.streams import NewRecord, Record, StreamOptions, stream_at
from iln_stream.streams.copying import import_records
from iln_stream.streams.sqlite import (
    PartitionState,
    ReadPosition,
    Retention,
    SqliteAppender,
    SqliteImporter,
    SqliteTransactionalSink,
    create_topic,
    readers,
    set_retention,
    topics,
    trim,
)


def test_topics_are_listed(path):
    """The list has each topic with its partitions, retention and sizes."""
    create_topic(path, "predictions", retention=Retention(records=5))
    create_topic(path, "events", n_partitions=2)
    append(path, [b"123", b"45"])
    events, predictions = topics(path)
    assert (events.topic.name, predictions.topic.name) == ("events", "predictions")
    assert events.partitions == (PartitionState(0, 0, 2, 5), PartitionState(1, 0, 0, 0))
    assert predictions.topic.retention == Retention(records=5)
    assert events.topic.topic_id != predictions.topic.topic_id


def test_a_name_of_another_type_is_damage(path):
    """A flipped bit makes bytes of a topic's name: the error says so, and is no traceback."""
    create_topic(path, "events")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE topics SET name = CAST(name AS BLOB)")
    for ask in (lambda: topics(path), lambda: append(path, [b"1"])):
        with pytest.raises((SourceError, SinkError), match="damaged, as a topic's name is no text"):
            ask()


@pytest.mark.parametrize(
    ("name", "n_partitions", "retention", "message"),
    [
        ("events", 1, None, "has a topic 'events' already"),
        ("no name", 1, None, "'no name' is not a topic's name"),
        ("other", 0, None, "n_partitions = 0"),
        ("other", 1, Retention(seconds=-1), "seconds = -1 is negative"),
    ],
)
def test_a_topic_that_can_not_be_created(path, name, n_partitions, retention, message):
    """A second topic of a name and wrong arguments are refused."""
    create_topic(path, "events")
    with pytest.raises(SinkError, match=message):
        create_topic(path, name, n_partitions, retention)
    assert len(topics(path)) == 1


def test_no_file_appears(path):
    """Listing, trimming or changing a missing log is an error, and creates nothing."""
    for call in (
        lambda: topics(path),
        lambda: trim(path, "events"),
        lambda: set_retention(path, "events", Retention()),
    ):
        with pytest.raises(NoStreamError):
            call()
    assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("retention", "left"),
    [
        (Retention(records=3), 3),
        (Retention(bytes=45), 4),
        (Retention(seconds=10_000), 5),
        (Retention(records=6, bytes=25), 2),
        (Retention(records=0), 0),
        (Retention(), 8),
    ],
)
def test_trim(path, retention, left):
    """Trimming keeps the newest records that all limits allow, and forgets the ids of others."""
    ages = [1_000_000] * 3 + [0] * 5
    now = time.time()
    append(path, [NewRecord(bytes(10), id=str(n), timestamp=now - ages[n]) for n in range(8)])
    assert trim(path, "events", retention) == 8 - left
    assert [record.offset for record in read(path)] == list(range(8 - left, 8))
    assert topics(path)[0].partitions[0].n_bytes == 10 * left
    again = append(path, [NewRecord(b"", id=str(n)) for n in range(8)])
    assert [each.is_new for each in again] == [True] * (8 - left) + [False] * left


def test_retention_is_kept_as_records_are_appended(path):
    """A topic with retention stays small, whatever the size of the batches; so does its file."""
    create_topic(path, "events", retention=Retention(records=1_000))
    with closing(SqliteAppender(path, "events", "log")) as appender:
        for size in [1, 5_000, 1, 1, 10, 3_000, *[100] * 200]:
            appender.append([NewRecord(bytes(1_000))] * size)
    (state,) = topics(path)[0].partitions
    assert state.next_offset - state.first_offset == 1_000
    assert state.next_offset == 28_013
    assert path.stat().st_size < 12 << 20


def test_a_changed_retention_holds_from_then_on(path):
    """`set_retention` reaches an appender that is open already."""
    with closing(SqliteAppender(path, "events", "log")) as appender:
        appender.append([NewRecord(b"")] * 10)
        set_retention(path, "events", Retention(records=2))
        appender.append([NewRecord(b"")])
    assert [record.offset for record in read(path)] == [9, 10]


def test_a_topic_can_be_trimmed_while_it_grows(path):
    """`trim` takes many short transactions: an appender continues beside it."""
    append(path, [b"old"] * 20_000)
    trimming = threading.Thread(target=trim, args=(path, "events", Retention(records=100)))
    trimming.start()
    for number in range(20):
        append(path, [b"%d" % number])
    trimming.join()
    trim(path, "events", Retention(records=20))
    assert values(path) == [b"%d" % number for number in range(20)]


def test_lag(tmp_path):
    """A learner's committed offset is where its predictions are; the lag is the rest."""
    path = tmp_path / "log.db"
    append(path, [b"1", b"2", b"3"])
    assert readers(path, "events") == []
    topic_id = topics(path)[0].topic.topic_id
    with closing(SqliteTransactionalSink(path, "predictions", "log-events", topic_id, [0])) as sink:
        assert readers(path, "events") == [ReadPosition("predictions", 0, None, 3)]
        sink.publish(0, 1, None, b"{}")
    assert readers(path, "events") == [ReadPosition("predictions", 0, 2, 1)]
    assert readers(path, "predictions") == []
    with pytest.raises(NoStreamError, match="has no topic 'other'"):
        readers(path, "other")


def test_a_copy_in_the_same_file(tmp_path):
    """A copy is a reader, too."""
    path = tmp_path / "log.db"
    append(path, [b"1", b"2", b"3"])
    end = StreamOptions(stop_at_end=True)
    import_records(stream_at(f"sqlite:{path}", end), stream_at(f"sqlite:{path}#copy", end))
    assert readers(path, "events") == [ReadPosition("copy", 0, 3, 0)]


def records(*texts):
    return [Record(0, text, LIST, 1.0) for text in texts]


@pytest.fixture
def importer(tmp_path):
    with closing(SqliteImporter(tmp_path / "a.db", "events", "there", "id")) as opened:
        yield opened


def test_two_imports_at_the_same_time(importer, tmp_path):
    """The second one stores nothing twice."""
    importer.append(0, records(b"1"), None, 1, by_key=False)
    second = SqliteImporter(tmp_path / "a.db", "events", "there", "id")
    with closing(second), pytest.raises(SinkError, match="does the same import of there"):
        second.append(0, records(b"1"), None, 1, by_key=False)
    assert values(tmp_path / "a.db") == [b"1"]


def test_neither_records_nor_position(importer, tmp_path):
    """Where records can't be stored, the position stays."""
    with pytest.raises(SinkError, match="is not text that UTF-8 can encode"):
        importer.append(
            0, [*records(b"1"), Record(0, b"2", LIST, 1.0, "\ud800")], None, 2, by_key=False
        )
    assert importer.position(0) is None
    assert values(tmp_path / "a.db") == []
