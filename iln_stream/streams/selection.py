"""Some of the records of a log: all but those that are left out."""

from collections.abc import Mapping, Sequence

from iln_stream.streams.base import Log, Record


class Selection:
    """A partition of a log without some of its records, which are passed over as if not there.

    Parameters
    ----------
    log
        One partition, which is closed with this.
    skip
        Ranges of offsets that are left out.

    Attributes
    ----------
    skipped : list of range
        Offsets of the records that were there and were left out, so far.

    """

    def __init__(self, log: Log, skip: Sequence[range]) -> None:
        self._log = log
        self._skip = tuple(skip)
        self.partitions = log.partitions
        self.skipped: list[range] = []

    @property
    def stream(self) -> str:
        """Name of the log."""
        return self._log.stream

    @property
    def topic_id(self) -> str | None:
        """Identity of the log."""
        return self._log.topic_id

    @property
    def n_partitions(self) -> int:
        """How many partitions the log has."""
        return self._log.n_partitions

    @property
    def positions(self) -> Mapping[int, int]:
        """Offset after what was handed out or left out."""
        return self._log.positions

    @property
    def exhausted(self) -> bool:
        """Whether there is no more."""
        return self._log.exhausted

    @property
    def lag(self) -> int | None:
        """Offsets still ahead, those that will be left out included."""
        return self._log.lag

    @property
    def connected(self) -> bool:
        """Whether records could come now."""
        return self._log.connected

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records that are not left out; possibly none."""
        records = self._log.poll(timeout)
        if not self._skip:
            return records
        return [record for record in records if not self._is_left_out(record)]

    def stop_here(self) -> None:
        """Be exhausted."""
        self._log.stop_here()

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    def _is_left_out(self, record: Record) -> bool:
        offset = record.offset
        if not any(offset in each for each in self._skip):
            return False
        last = self.skipped[-1] if self.skipped else range(-1)
        if last.stop == offset:
            self.skipped[-1] = range(last.start, offset + 1)
        else:
            self.skipped.append(range(offset, offset + 1))
        return True
