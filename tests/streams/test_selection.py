"""`Selection`: a log without some of its records."""

from support.list_source import ListSource

from iln_stream.streams import Record, Selection, StreamPartition


class ListLog(ListSource):
    """A list of records as a log."""

    topic_id, n_partitions, positions = "id", 1, {2: 7}

    def stop_here(self):
        self.poll(10**6)
        self._records = []


def log(offsets, batch=3):
    return ListLog([Record(offset, b"", StreamPartition("list", 2)) for offset in offsets], batch)


def read(source):
    records = []
    while not source.exhausted:
        records += source.poll(0.0)
    return [record.offset for record in records]


def test_skipped_offsets():
    """Records in the ranges are skipped; `skipped` has only offsets of existing records."""
    selection = Selection(log([0, 1, 2, 5, 6, 9]), [range(1, 6), range(9, 100)])
    assert read(selection) == [0, 6]
    assert selection.skipped == [range(1, 3), range(5, 6), range(9, 10)]


def test_nothing_to_skip():
    """Without ranges all records are returned."""
    selection = Selection(log(range(7)), [])
    assert read(selection) == list(range(7))
    assert selection.skipped == []


def test_the_rest_is_the_logs():
    """All other properties are those of the log; `close` closes it."""
    inner = log(range(7))
    selection = Selection(inner, [range(3)])
    for name in ("stream", "topic_id", "n_partitions", "partitions", "positions", "lag"):
        assert getattr(selection, name) == getattr(inner, name)
    assert selection.connected
    selection.stop_here()
    assert selection.exhausted
    selection.close()
    assert inner.closed
