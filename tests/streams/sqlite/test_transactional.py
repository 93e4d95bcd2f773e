"""`SqliteTransactionalSink`: messages and committed offsets in one transaction, one process."""

from contextlib import closing

import pytest
from support.embedded_log import values

from iln_stream.errors import OtherRunError, SinkError
from iln_stream.streams.sqlite import SqliteTransactionalSink

ID = "1b4e28ba-2fa1-11d2-883f-0016d3cca427"


def open_sink(path, partitions=(0,), source_id=ID):
    return SqliteTransactionalSink(path, "out", "log-events", source_id, partitions)


def test_messages_and_offsets_are_stored_together(path):
    """The committed offset is that after the last stored message, in this process and the next."""
    with closing(open_sink(path)) as sink:
        assert sink.committed() == {}
        sink.publish(0, 4, "k", b"4")
        sink.publish(0, 7, None, b"7")
        assert (sink.committed(), values(path, "out")) == ({}, [])
        sink.flush()
        assert (sink.committed(), values(path, "out")) == ({0: 8}, [b"4", b"7"])
    with closing(open_sink(path)) as sink:
        assert sink.committed() == {0: 8}


def test_a_killed_process_leaves_neither(path):
    """Messages that were not stored when a process ended have no committed offset either."""
    killed = open_sink(path)
    killed.publish(0, 0, None, b"0")
    killed.flush()
    killed.publish(0, 1, None, b"1")
    with closing(open_sink(path)) as sink:
        assert (sink.committed(), values(path, "out")) == ({0: 1}, [b"0"])


def test_an_older_process_is_fenced(path):
    """Once another process publishes for the partition, the older one stores nothing more."""
    older, other = open_sink(path), open_sink(path, (1,))
    older.publish(0, 0, None, b"0")
    other.publish(1, 0, None, b"of partition 1")
    newer = open_sink(path)
    with pytest.raises(OtherRunError, match="another process now publishes"):
        older.flush()
    newer.publish(0, 0, None, b"0, once")
    newer.close()
    other.close()
    assert values(path, "out") == [b"0, once", b"of partition 1"]


def test_another_source_has_other_offsets(path):
    """A topic that was created again, or one without an id, begins without committed offsets."""
    with closing(open_sink(path, (0, 1))) as sink:
        sink.publish(1, 3, None, b"")
    for another in ("another", None):
        with closing(open_sink(path, (0, 1), another)) as sink:
            assert sink.committed() == {}
    with closing(open_sink(path, (1,))) as sink:
        assert sink.committed() == {1: 4}


@pytest.mark.parametrize("source_id", [ID, None])
def test_kinds_of_messages(path, source_id):
    """Several messages of the same records have offsets of their own, and fence no other kind."""
    sinks = [
        SqliteTransactionalSink(path, "out", "log-events", source_id, (0,), kind=kind)
        for kind in ("", "@1", "@24h")
    ]
    for n, sink in enumerate(sinks, 1):
        sink.publish(0, n, None, b"%d" % n)
        sink.flush()
    assert [sink.committed() for sink in sinks] == [{0: 2}, {0: 3}, {0: 4}]
    assert values(path, "out") == [b"1", b"2", b"3"]


def test_a_failure_stores_neither(path):
    """If the messages can't be stored, the committed offset stays."""
    sink = open_sink(path)
    sink.publish(0, 0, None, b"0")
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(SinkError, match="moved"):
        sink.flush()
    path.with_name("elsewhere.db").rename(path)
    with closing(open_sink(path)) as again:
        assert again.committed() == {}
    with pytest.raises(SinkError):
        sink.close()
    assert values(path, "out") == []
