"""A log as another log shows it."""

from collections.abc import Mapping, Sequence

from iln_stream.streams.base import Log, Record


class LogView:
    """A log that is the same as another one; subclasses change something.

    Parameters
    ----------
    log
        The other log; `close` closes it.

    """

    def __init__(self, log: Log) -> None:
        self._log = log

    @property
    def stream(self) -> str:
        """Name of the log."""
        return self._log.stream

    @property
    def partitions(self) -> Sequence[int]:
        """The partitions that are read."""
        return self._log.partitions

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
        """Offset where the next poll starts, by partition."""
        return self._log.positions

    @property
    def ends(self) -> Mapping[int, int]:
        """Offset after the last known record, by partition."""
        return self._log.ends

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
        return self._log.poll(timeout)

    def stop_here(self) -> None:
        """End the stream here: `exhausted` becomes True."""
        self._log.stop_here()

    def close(self) -> None:
        """Close the log."""
        self._log.close()
