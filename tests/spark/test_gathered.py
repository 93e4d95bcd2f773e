"""Records gathered by key: none is lost, changed or moved."""

import random

import pyarrow as pa
import pytest

from iln_stream.spark import records as gathered
from iln_stream.spark.records import gather, records_of
from iln_stream.streams import Record, StreamPartition

TYPES = {
    "group": pa.binary(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "time": pa.int64(),
    "value": pa.binary(),
    "key": pa.binary(),
}


def rows(n, seed=1, *, key=False):
    """Return rows as Spark has them: groups mixed, some values empty or missing, one group null."""
    rng = random.Random(seed)
    for i in range(n):
        group = rng.choice([b"a", b"b", b"\xff", b"", None])
        value = rng.choice([b"", None, b'{"x": %d}' % i])
        own = (rng.choice([b"", None, b"k%d" % i]),) if key else ()
        yield (group, i % 3, (1 << 40) + i, 1_700_000_000_123 + i, value, *own)


def batches(found, size):
    names = list(TYPES)[: len(found[0])]
    for start in range(0, len(found), size):
        columns = zip(*found[start : start + size], strict=True)
        arrays = [pa.array(each, TYPES[n]) for n, each in zip(names, columns, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names)


def read(gathered_batches):
    """Return each group's records, and the number of gathered rows."""
    records, n_rows = {}, 0
    for batch in gathered_batches:
        for row in batch.to_pylist():
            n_rows += 1
            records.setdefault(row["group"], []).extend(records_of("list", *row.values()))
    return records, n_rows


def expected(found):
    records = {}
    for group, partition, offset, time, value, *own in found:
        key = own[0] if own else group
        text = None if key is None else key.decode(errors="surrogateescape")
        records.setdefault(group, []).append(
            Record(offset, value, StreamPartition("list", partition), time / 1000, text)
        )
    return records


@pytest.mark.parametrize("key", [False, True])
def test_records_come_back(key):
    """Each group has its own records, in order, with missing values and keys still missing."""
    found = list(rows(1000, key=key))
    records, n_rows = read(gather(batches(found, 128)))
    assert records == expected(found)
    assert n_rows == 5
    # Arrow's slices share their buffers with the whole: offsets begin elsewhere.
    (whole,) = batches(found, 1000)
    assert read(gather([whole.slice(30, 50)]))[0] == expected(found[30:80])


def test_memory_is_bounded(monkeypatch):
    """A part of limited size is gathered at a time, whether by records or by bytes."""
    found = list(rows(1000))
    for name, most, parts in (("_MOST_RECORDS", 200, 5), ("_MOST_BYTES", 1, 10)):
        with monkeypatch.context() as patch:
            patch.setattr(gathered, name, most)
            records, n_rows = read(gather(batches(found, 100)))
        assert records == expected(found)
        assert n_rows == 5 * parts


def test_no_records_make_no_rows():
    """A partition without new records passes, whether Spark sends an empty batch or none."""
    empty = next(batches(list(rows(1)), 1)).slice(0, 0)
    assert list(gather([])) == list(gather([empty])) == []


def test_records_without_values_come_back():
    """Tombstones only: there are no bytes at all to join."""
    found = [(b"a", 0, i, i, None, None) for i in range(3)]
    (gathered_rows,) = gather(batches(found, 3))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, gathered_rows.schema) as stream:
        stream.write_batch(gathered_rows)
    assert read(pa.ipc.open_stream(sink.getvalue()))[0] == expected(found)
