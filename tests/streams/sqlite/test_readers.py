"""Readers of a topic, and how far they are."""

from contextlib import closing

import pytest
from support.embedded_log import append

from iln_stream.errors import NoStreamError
from iln_stream.streams import StreamOptions, stream_at
from iln_stream.streams.copying import import_records
from iln_stream.streams.sqlite import Reader, SqliteTransactionalSink, readers, topics


def test_lag(tmp_path):
    """A learner's committed offset is where its predictions are; the lag is the rest."""
    path = tmp_path / "log.db"
    append(path, [b"1", b"2", b"3"])
    assert readers(path, "events") == []
    topic_id = topics(path)[0].topic.topic_id
    with closing(SqliteTransactionalSink(path, "predictions", "log-events", topic_id, [0])) as sink:
        assert readers(path, "events") == [Reader("predictions", 0, None, 3)]
        sink.publish(0, 1, None, b"{}")
    assert readers(path, "events") == [Reader("predictions", 0, 2, 1)]
    assert readers(path, "predictions") == []


def test_a_copy_in_the_same_file(tmp_path):
    """A copy is a reader, too."""
    path = tmp_path / "log.db"
    append(path, [b"1", b"2", b"3"])
    end = StreamOptions(stop_at_end=True)
    import_records(stream_at(f"sqlite:{path}", end), stream_at(f"sqlite:{path}#copy", end))
    assert readers(path, "events") == [Reader("copy", 0, 3, 0)]


def test_no_topic(tmp_path):
    """A topic that does not exist is an error."""
    append(tmp_path / "log.db", [b"1"])
    with pytest.raises(NoStreamError, match="has no topic 'other'"):
        readers(tmp_path / "log.db", "other")
