"""A log without some of its records."""

from collections.abc import Sequence

from iln_stream.streams.base import Log, Record
from iln_stream.streams.log_view import LogView


class Selection(LogView):
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
    n_read : int
        Number of records that were read so far, with those that were skipped.

    """

    def __init__(self, log: Log, skip: Sequence[range]) -> None:
        super().__init__(log)
        self._skip = tuple(skip)
        self.skipped: list[range] = []
        self.n_read = 0

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records that are not skipped; possibly none."""
        records = self._log.poll(timeout)
        self.n_read += len(records)
        if not self._skip:
            return records
        return [record for record in records if not self._is_skipped(record)]

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
