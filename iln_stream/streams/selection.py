"""A log without some of its records."""

from collections.abc import Mapping, Sequence

from iln_stream.streams.base import Log, Record


class Selection:
    """A partition of a log that skips some offsets.

    Parameters
    ----------
    log
        One partition; `close` closes it.
    skip
        Ranges of offsets to skip.

    Attributes
    ----------
    skipped : list of range
        Offsets of existing records that were skipped so far.

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
        """Id of the topic."""
        return self._log.topic_id

    @property
    def n_partitions(self) -> int:
        """Number of partitions of the topic."""
        return self._log.n_partitions

    @property
    def ends(self) -> Mapping[int, int]:
        """Offset after the last known record, by partition."""
        return self._log.ends

    @property
    def positions(self) -> Mapping[int, int]:
        """Offset after the last record that was returned or skipped."""
        return self._log.positions

    @property
    def exhausted(self) -> bool:
        """Whether all records were returned or skipped."""
        return self._log.exhausted

    @property
    def lag(self) -> int | None:
        """Number of offsets still to read, including those to skip."""
        return self._log.lag

    @property
    def connected(self) -> bool:
        """Whether the log is connected to its broker."""
        return self._log.connected

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records that are not skipped; possibly none."""
        records = self._log.poll(timeout)
        if not self._skip:
            return records
        return [record for record in records if not self._is_skipped(record)]

    def stop_here(self) -> None:
        """End the stream here: `exhausted` becomes True."""
        self._log.stop_here()

    def close(self) -> None:
        """Close the log."""
        self._log.close()

    def _is_skipped(self, record: Record) -> bool:
        offset = record.offset
        if not any(offset in each for each in self._skip):
            return False
        last = self.skipped[-1] if self.skipped else range(-1)
        if last.stop == offset:
            self.skipped[-1] = range(last.start, offset + 1)
        else:
            self.skipped.append(range(offset, offset + 1))
        return True
