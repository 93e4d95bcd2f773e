"""Several partitions as one source with one order."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from time import monotonic

from iln_stream.streams.base import Log, Record
from iln_stream.streams.journal import Journal, Run

_LONGEST_RUN = 1_000
"""Maximum number of records from one partition before the next one's turn."""

_WAIT_SECONDS = 0.02
"""Longest wait for one partition while others may have records."""


class Sequencer:
    """Reads several partitions of one log as one stream, in order of arrival.

    Before it returns records, it writes their partition, and the offset after them, to a journal.
    After a restart it first repeats the rest of the order in the journal, and then continues in
    order of arrival. It does not order records by their timestamps, so no
    partition has to wait for another.

    Parameters
    ----------
    inputs
        The partitions, each opened at its position.
    journal
        Where to keep the order. None: the order is not kept, so the run can't be resumed.
    again
        Runs in the journal after the positions of the inputs, to be repeated.

    """

    def __init__(
        self, inputs: Sequence[Log], journal: Journal | None = None, again: Iterable[Run] = ()
    ) -> None:
        self._inputs = {log.partitions[0]: log for log in inputs}
        self._journal = journal
        self._again = deque(run for run in again if run.partition in self._inputs)
        self._read_ahead: dict[int, deque[Record]] = {p: deque() for p in self._inputs}
        self._turn = deque(self._inputs)
        self._positions = {
            partition: log.positions[partition] for partition, log in self._inputs.items()
        }
        self.partitions = tuple(self._inputs)

    @property
    def stream(self) -> str:
        """Name of the log."""
        return self._first.stream

    @property
    def topic_id(self) -> str | None:
        """Id of the topic."""
        return self._first.topic_id

    @property
    def n_partitions(self) -> int:
        """Number of partitions of the topic."""
        return self._first.n_partitions

    @property
    def positions(self) -> Mapping[int, int]:
        """Offset after the last record that was returned, by partition."""
        return dict(self._positions)

    @property
    def ends(self) -> Mapping[int, int]:
        """Offset after the last known record, by partition."""
        return {partition: log.ends[partition] for partition, log in self._inputs.items()}

    @property
    def exhausted(self) -> bool:
        """Whether all records of all partitions were returned."""
        return (
            not self._again
            and not any(self._read_ahead.values())
            and all(log.exhausted for log in self._inputs.values())
        )

    @property
    def lag(self) -> int | None:
        """Sum of the partitions' lags; None if one is unknown. Safe from any thread."""
        lags = [log.lag for log in self._inputs.values()]
        ahead = sum(len(records) for records in self._read_ahead.values())
        return None if None in lags else sum(lag or 0 for lag in lags) + ahead

    @property
    def connected(self) -> bool:
        """Whether all partitions are connected. Safe from any thread."""
        return all(log.connected for log in self._inputs.values())

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records after up to `timeout` seconds; the journal has their order."""
        return self._repeated(timeout) if self._again else self._arrived(timeout)

    def stop_here(self) -> None:
        """End the stream here: `exhausted` becomes True."""
        for log in self._inputs.values():
            log.stop_here()

    def close(self) -> None:
        """Close the partitions and the journal."""
        with ExitStack() as stack:
            if self._journal is not None:
                stack.callback(self._journal.close)
            for log in self._inputs.values():
                stack.callback(log.close)

    @property
    def _first(self) -> Log:
        return next(iter(self._inputs.values()))

    def _repeated(self, timeout: float) -> list[Record]:
        """Return records of the next run in the journal."""
        partition, end = self._again[0]
        log, ahead = self._inputs[partition], self._read_ahead[partition]
        if not ahead and log.positions[partition] < end:
            ahead.extend(log.poll(timeout))
        records = []
        while ahead and ahead[0].offset < end:
            records.append(ahead.popleft())
        if ahead or log.positions[partition] >= end or log.exhausted:
            self._again.popleft()
        self._move_behind(records)
        return records

    def _arrived(self, timeout: float) -> list[Record]:
        """Return records that have arrived, once the journal has their order."""
        deadline = monotonic() + timeout
        records = [record for _ in self._inputs for record in self._next_run(0.0)]
        while not records and not self.exhausted and (left := deadline - monotonic()) > 0:
            records = self._next_run(min(left, _WAIT_SECONDS))
        if records and self._journal is not None:
            self._journal.sync()
        return records

    def _next_run(self, timeout: float) -> list[Record]:
        """Return the next records of the partition whose turn it is."""
        self._turn.rotate(-1)
        partition = self._turn[0]
        ahead = self._read_ahead[partition]
        if not ahead:
            ahead.extend(self._inputs[partition].poll(timeout))
        records = [ahead.popleft() for _ in range(min(len(ahead), _LONGEST_RUN))]
        if records and self._journal is not None:
            self._journal.append(Run(partition, records[-1].offset + 1))
        self._move_behind(records)
        return records

    def _move_behind(self, records: Sequence[Record]) -> None:
        if records:
            self._positions[records[0].partition] = records[-1].offset + 1
