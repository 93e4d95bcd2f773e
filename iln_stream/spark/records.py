"""A key's records in a micro-batch, gathered before the shuffle.

Spark gives a stateful function in Python its rows one by one, cell by cell; for a topic's columns
that takes as long as a small learner takes to learn. `gather` makes few rows of them with Arrow's
own functions. It keeps nothing between two calls, so it is no part of the state.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from iln_stream.streams import Record, StreamPartition

if TYPE_CHECKING:
    import pyarrow as pa


def in_order(records: Iterable[Record], learned: Mapping[int, int]) -> tuple[list[Record], int]:
    """Return a key's new records by partition and offset, and the number of repeats left out.

    Spark gives the rows of one key in any order. They come in any order; `learned` has the last
    offset that the key's learner has learned, by partition.

    Examples
    --------
    >>> from iln_stream.streams import Record, StreamPartition
    >>> rows = [Record(offset, b"", StreamPartition("events", 0)) for offset in (7, 5, 6, 6)]
    >>> found, n_repeats = in_order(rows, {0: 5})
    >>> [record.offset for record in found], n_repeats
    ([6, 7], 2)

    """
    ordered = sorted(records, key=lambda record: (record.origin.partition, record.offset))
    last = dict(learned)
    new: list[Record] = []
    for record in ordered:
        if record.offset > last.get(record.origin.partition, -1):
            last[record.origin.partition] = record.offset
            new.append(record)
    return new, len(ordered) - len(new)


class RecordList:
    """A source of the records that were put into it last."""

    def __init__(self, stream: str) -> None:
        self.stream = stream
        self.partitions: Sequence[int] = ()
        self.lag: int | None = None
        self.connected = True
        self._records: Sequence[Record] = ()

    @property
    def exhausted(self) -> bool:
        """Whether all records were returned."""
        return not self._records

    def put(self, records: Sequence[Record]) -> None:
        """Set the records that `poll` returns next."""
        self._records = records

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return all records at once, without waiting."""
        records, self._records = self._records, ()
        return records

    def close(self) -> None:
        """Nothing is open."""


GATHERED = "group BINARY, heads BINARY, values BINARY, keys BINARY"
"""Columns of the gathered rows: the bytes that choose the learner; a `HEAD` for each record; all
values, one after the other; and so the records' keys. No `keys`: each is the group."""

HEAD = np.dtype(
    [("partition", "<i4"), ("offset", "<i8"), ("time", "<i8"), ("size", "<i4"), ("key_size", "<i4")]
)
"""A record's position, when it was written (milliseconds), the bytes of its value and of its key;
-1: it has none."""

_MOST_RECORDS = 100_000
_MOST_BYTES = 32 << 20
"""So much is gathered at a time; what comes later makes further rows of the same keys."""


def gather(batches: "Iterable[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Gather records by `group`, for `DataFrame.mapInArrow`.

    Parameters
    ----------
    batches
        With the columns `iln_stream.spark.job.ROWS`; `key` only if it is not the group.

    Yields
    ------
    RecordBatch
        With the columns `GATHERED`; a group's records keep their order.

    """
    kept: list[pa.RecordBatch] = []
    n_records = n_bytes = 0
    for batch in batches:
        kept.append(batch)
        n_records += batch.num_rows
        n_bytes += batch.nbytes
        if n_records >= _MOST_RECORDS or n_bytes >= _MOST_BYTES:
            yield _gathered(kept)
            kept = []
            n_records = n_bytes = 0
    if n_records:
        yield _gathered(kept)


def records_of(
    stream: str, group: bytes | None, heads: bytes, values: bytes, keys: bytes | None
) -> Iterator[Record]:
    """Return the records of a gathered row, as the service's sources return them."""
    own = None if group is None else group.decode(errors="surrogateescape")
    start = key_start = 0
    for partition, offset, time, size, key_size in np.frombuffer(heads, HEAD).tolist():
        value = None
        if size >= 0:
            end = start + size
            value = values[start:end]
            start = end
        if keys is not None:
            own = None
            if key_size >= 0:
                own = keys[key_start : key_start + key_size].decode(errors="surrogateescape")
                key_start += key_size
        yield Record(offset, value, StreamPartition(stream, partition), time / 1000, own)


def _gathered(batches: "list[pa.RecordBatch]") -> "pa.RecordBatch":
    import pyarrow as pa

    table = pa.Table.from_batches(batches)
    group = table["group"].combine_chunks().dictionary_encode(null_encoding="encode")
    codes = group.indices.to_numpy()
    table = table.take(pa.array(np.argsort(codes, kind="stable")))
    ends = np.cumsum(np.bincount(codes, minlength=len(group.dictionary)))
    heads = np.empty(len(codes), HEAD)
    for name in ("partition", "offset", "time"):
        heads[name] = table[name].combine_chunks().to_numpy()
    values, heads["size"] = _joined(table["value"].combine_chunks(), ends)
    heads["key_size"] = -1
    keys = pa.nulls(len(ends), pa.binary())
    if "key" in table.column_names:
        keys, heads["key_size"] = _joined(table["key"].combine_chunks(), ends)
    head_ends = np.concatenate([[0], ends]) * HEAD.itemsize
    columns = [group.dictionary, _binary(head_ends, pa.py_buffer(heads)), values, keys]
    return pa.RecordBatch.from_arrays(columns, ["group", "heads", "values", "keys"])


def _joined(column: Any, ends: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Return the bytes of each group, joined, and the size of each value; -1: there is none."""
    import pyarrow as pa

    column = column.cast(pa.binary())  # Spark can be set to send another type
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, np.int32, len(column) + 1, 4 * column.offset)
    sizes = np.where(column.is_valid().to_numpy(zero_copy_only=False), np.diff(bounds), -1)
    return _binary(bounds[np.concatenate([[0], ends])], data), sizes


def _binary(bounds: NDArray[Any], data: Any) -> Any:
    """Return an array of the parts of some bytes; they are not copied."""
    import pyarrow as pa

    offsets = pa.py_buffer(np.ascontiguousarray(bounds, np.int32))
    return pa.Array.from_buffers(pa.binary(), len(bounds) - 1, [None, offsets, data])
