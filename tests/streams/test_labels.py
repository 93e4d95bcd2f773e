"""`LabelPartition`: a partition of labels, with its number in a run."""

from contextlib import closing

from support.embedded_log import append

from iln_stream.streams import LabelPartition, NewRecord, label_partition
from iln_stream.streams.sqlite import SqliteLog, create_topic


def test_a_partition_of_a_log(tmp_path):
    """All that has a partition's number has the negative one; the rest is the log's."""
    path = tmp_path / "log.db"
    create_topic(path, "labels", 2)
    append(path, [NewRecord(b"a", timestamp=5.0, key="k"), NewRecord(b"b", key="k")], "labels")
    number = next(p for p in (0, 1) if _end(path, p))
    log = SqliteLog(path, "labels", "log-labels", number, stop_at_end=True)
    with closing(LabelPartition(log)) as labels:
        here = label_partition(number)
        assert labels.partitions == (here,)
        assert (labels.positions, labels.ends, labels.lag) == ({here: 0}, {here: 2}, 2)
        assert (labels.stream, labels.topic_id, labels.n_partitions) == (
            "log-labels", log.topic_id, 2,
        )  # fmt: skip
        first, second = labels.poll(1.0)
        assert first == (0, b"a", here, 5.0, "k")
        assert (second.offset, second.partition) == (1, here)
        assert (labels.positions, labels.exhausted, labels.connected) == ({here: 2}, True, True)


def test_stop_here(tmp_path):
    """`stop_here` ends the log."""
    path = tmp_path / "log.db"
    append(path, [b"a"], "labels")
    with closing(LabelPartition(SqliteLog(path, "labels", "log-labels"))) as labels:
        labels.stop_here()
        assert labels.exhausted


def _end(path, number):
    with closing(SqliteLog(path, "labels", "log-labels", number)) as log:
        return log.lag
