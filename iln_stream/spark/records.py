"""A key's records in a micro-batch: in order, and without those that were learned before."""

from collections.abc import Iterable, Mapping, Sequence

from iln_stream.streams import Record


def in_order(records: Iterable[Record], learned: Mapping[int, int]) -> tuple[list[Record], int]:
    """Return a key's new records by partition and offset, and the number of repeats left out.

    Spark gives the rows of one key in any order.

    Parameters
    ----------
    records
        Of one key, in any order.
    learned
        The last offset that the key's learner has learned, by partition.

    Examples
    --------
    >>> from iln_stream.streams import Record
    >>> rows = [Record(7, b"c"), Record(5, b"a"), Record(6, b"b"), Record(6, b"b")]
    >>> found, n_repeats = in_order(rows, {0: 5})
    >>> [record.offset for record in found], n_repeats
    ([6, 7], 2)

    """
    ordered = sorted(records, key=_position)
    last = dict(learned)
    new: list[Record] = []
    for record in ordered:
        if record.offset > last.get(record.partition, -1):
            last[record.partition] = record.offset
            new.append(record)
    return new, len(ordered) - len(new)


def _position(record: Record) -> tuple[int, int]:
    return record.partition, record.offset


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
