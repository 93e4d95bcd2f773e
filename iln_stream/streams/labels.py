"""A partition of the second topic, that of the labels, under the number that it has in a run."""

from collections.abc import Mapping, Sequence

from iln_stream.streams.base import Log, Record, label_partition


class LabelPartition:
    """A partition of a log of labels: as it is, but with the number of `label_partition`.

    Parameters
    ----------
    log
        One partition; `close` closes it.

    """

    def __init__(self, log: Log) -> None:
        self._log = log
        self._number = label_partition(log.partitions[0])
        self.partitions = (self._number,)

    @property
    def stream(self) -> str:
        """Name of the log of labels."""
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
    def positions(self) -> Mapping[int, int]:
        """Offset where the next poll starts."""
        (position,) = self._log.positions.values()
        return {self._number: position}

    @property
    def ends(self) -> Mapping[int, int]:
        """Offset after the last known record."""
        (end,) = self._log.ends.values()
        return {self._number: end}

    @property
    def exhausted(self) -> bool:
        """Whether all records were returned."""
        return self._log.exhausted

    @property
    def lag(self) -> int | None:
        """Number of offsets still to read."""
        return self._log.lag

    @property
    def connected(self) -> bool:
        """Whether the log is connected to its broker."""
        return self._log.connected

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records."""
        number = self._number
        return [
            Record(offset, payload, number, timestamp, key)
            for offset, payload, _, timestamp, key in self._log.poll(timeout)
        ]

    def stop_here(self) -> None:
        """End the stream here: `exhausted` becomes True."""
        self._log.stop_here()

    def close(self) -> None:
        """Close the log."""
        self._log.close()
