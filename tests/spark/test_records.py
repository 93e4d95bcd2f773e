import pytest
from support.list_source import LIST

from iln_stream.spark.records import in_order
from iln_stream.streams import Record, StreamPartition


def test_rows_are_sorted_by_partition_and_offset():
    """Spark gives a key's rows in any order; learning needs the log's."""
    rows = [
        Record(2, b"", StreamPartition("list", 1)),
        Record(9, b"", LIST),
        Record(1, b"", StreamPartition("list", 1)),
        Record(8, b"", LIST),
    ]
    found, n_repeats = in_order(rows, {})
    assert [(each.origin.partition, each.offset) for each in found] == [
        (0, 8),
        (0, 9),
        (1, 1),
        (1, 2),
    ]
    assert n_repeats == 0


@pytest.mark.parametrize("learned", [{0: 4}, {0: 4, 1: 100}])
def test_positions_already_learned_are_dropped(learned):
    """A record is learned once, whether it comes again in this batch or in a later one."""
    rows = [
        Record(4, b"old", LIST),
        Record(5, b"a", LIST),
        Record(5, b"again", LIST),
        Record(6, b"b", LIST),
    ]
    found, n_repeats = in_order(rows, learned)
    assert [each.payload for each in found] == [b"a", b"b"]
    assert n_repeats == 2
