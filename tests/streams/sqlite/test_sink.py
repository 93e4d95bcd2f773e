"""`SqliteSink`: messages in order, stored in transactions."""

import threading
import time
from contextlib import closing

import pytest
from support.embedded_log import read, values

from iln_stream.errors import SinkError
from iln_stream.streams.sqlite import SqliteSink


def test_messages_are_stored_in_order(path):
    """Messages are stored with keys and times when they are flushed, and not before."""
    with closing(SqliteSink(path, "out")) as sink:
        sink.write("k", b"1", timestamp=3.5)
        sink.write(None, b"2")
        assert values(path, "out") == []
        sink.flush()
        first, second = read(path, "out")
        assert (first.payload, first.key, first.timestamp) == (b"1", "k", 3.5)
        assert (second.offset, second.payload, second.key) == (1, b"2", None)
        sink.write(None, b"3")
        sink.send_queued()
        assert values(path, "out") == [b"1", b"2", b"3"]
        sink.write(None, b"4")
    assert values(path, "out") == [b"1", b"2", b"3", b"4"]


def test_messages_do_not_wait_for_ever(path):
    """A later message stores those that have waited, and so does a large amount of them."""
    with closing(SqliteSink(path, "out")) as sink:
        sink.write(None, b"1")
        time.sleep(0.2)
        sink.write(None, b"2")
        assert values(path, "out") == [b"1", b"2"]
        for _ in range(17):
            sink.write(None, bytes(1 << 20))
        assert len(values(path, "out")) > 2


def test_the_partition_of_the_record(path):
    """A topic is created with the partitions of the source, and each message goes to that of its
    record; partition 0 takes those of partitions that the topic lacks."""
    with closing(SqliteSink(path, "out", n_partitions=2)) as sink:
        sink.write_all([(partition, "k", b"%d" % partition) for partition in (1, 0, 1, 2)])
    assert values(path, "out") == [b"0", b"2"]
    assert [(r.payload, r.key) for r in read(path, "out", partition=1)] == [(b"1", "k")] * 2
    with pytest.raises(SinkError, match="no partition 2"):
        SqliteSink(path, "out", partition=2)


def test_threads_share_a_sink(path):
    """Several learners and their snapshots' threads write and flush; each message is stored once,
    and those of a thread in its order."""
    with closing(SqliteSink(path, "out")) as sink:

        def write(name):
            for number in range(300):
                sink.write(None, f"{name} {number}".encode())
                if number % 50 == 0:
                    sink.flush()

        threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = values(path, "out")
    for name in "abc":
        ours = [value for value in found if value.startswith(name.encode())]
        assert ours == [f"{name} {number}".encode() for number in range(300)]


def test_a_failure_is_not_forgotten(path):
    """After a failed flush every call fails, so that no later position is saved; nothing is
    written to a file that is no longer at its path."""
    sink = SqliteSink(path, "out")
    sink.write(None, b"1")
    path.rename(path.with_name("elsewhere.db"))
    with pytest.raises(SinkError, match="moved, deleted or replaced"):
        sink.flush()
    assert not path.exists()
    path.with_name("elsewhere.db").rename(path)
    for call in (sink.flush, sink.send_queued, sink.close):
        with pytest.raises(SinkError, match="moved, deleted or replaced"):
            call()
    assert values(path, "out") == []
