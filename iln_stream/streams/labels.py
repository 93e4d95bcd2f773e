"""A partition of the second topic, that of the labels, under the number that it has in a run."""

from collections.abc import Mapping, Sequence

from iln_stream.streams.base import Log, Record, label_partition
from iln_stream.streams.log_view import LogView


class LabelPartition(LogView):
    """A partition of a log of labels: as it is, but with the number of `label_partition`.

    Parameters
    ----------
    log
        One partition; `close` closes it.

    """

    def __init__(self, log: Log) -> None:
        super().__init__(log)
        self._number = label_partition(log.partitions[0])

    @property
    def partitions(self) -> Sequence[int]:
        """The number in the run."""
        return (self._number,)

    @property
    def positions(self) -> Mapping[int, int]:
        """Offset where the next poll starts."""
        (position,) = self._log.positions.values()
        return {self._number: position}

    @property
    def ends(self) -> Mapping[int, int]:
        """Offset after the last known record."""
        (end,) = self._log.ends.values()
        return {self._number: end}

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records."""
        number = self._number
        return [
            Record(offset, payload, number, timestamp, key)
            for offset, payload, _, timestamp, key in self._log.poll(timeout)
        ]
