"""`Selection`: a log without some of its records."""

from support.list_source import LIST, ListSource, drained

from iln_stream.streams import Record, Selection


def test_skipped_offsets():
    """Records in the ranges are skipped; `skipped` has only offsets of existing records."""
    log = ListSource([Record(offset, b"", LIST) for offset in (0, 1, 2, 5, 6, 9)])
    selection = Selection(log, [range(1, 6), range(9, 100)])
    assert [record.offset for record in drained(selection)] == [0, 6]
    assert selection.skipped == [range(1, 3), range(5, 6), range(9, 10)]
    selection.close()
    assert log.closed
