"""One order for the records of several partitions."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from time import monotonic

from iln_stream.streams.base import Log, Record
from iln_stream.streams.journal import Journal, Run

_LONGEST_RUN = 1_000
"""Records of one partition before another one has its turn."""

_WAIT_SECONDS = 0.02
"""Longest wait for one partition while others may have something."""


class Sequencer:
    """Reads several partitions of one log as one stream, in the order of arrival.

    Before it hands records out, it writes into a journal which partition they come from and up to
    which offset. What was written down before, and is still to be learned, comes again in just that
    order; then whatever arrives. It never waits for one partition because of the times in another.

    Parameters
    ----------
    inputs
        The partitions, each opened where reading goes on.
    journal
        Where the order is kept; None: a run that is not resumed needs none.
    again
        Runs in the journal that lie after the inputs' positions.

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
        """Identity of the log."""
        return self._first.topic_id

    @property
    def n_partitions(self) -> int:
        """How many partitions the log has."""
        return self._first.n_partitions

    @property
    def positions(self) -> Mapping[int, int]:
        """Offset after what was handed out, by partition."""
        return dict(self._positions)

    @property
    def exhausted(self) -> bool:
        """Whether every partition has handed out everything."""
        return (
            not self._again
            and not any(self._read_ahead.values())
            and all(log.exhausted for log in self._inputs.values())
        )

    @property
    def lag(self) -> int | None:
        """Offsets still ahead in all partitions; None where one does not know. From any thread."""
        lags = [log.lag for log in self._inputs.values()]
        ahead = sum(len(records) for records in self._read_ahead.values())
        return None if None in lags else sum(lag or 0 for lag in lags) + ahead

    @property
    def connected(self) -> bool:
        """Whether records could come from every partition. Safe from any thread."""
        return all(log.connected for log in self._inputs.values())

    def poll(self, timeout: float) -> Sequence[Record]:
        """Wait up to `timeout` seconds for the next records, in the order that is written down."""
        return self._repeated(timeout) if self._again else self._arrived(timeout)

    def stop_here(self) -> None:
        """Be exhausted."""
        for log in self._inputs.values():
            log.stop_here()

    def close(self) -> None:
        """Close the partitions and the journal."""
        with ExitStack() as all_of_them:
            if self._journal is not None:
                all_of_them.callback(self._journal.close)
            for log in self._inputs.values():
                all_of_them.callback(log.close)

    @property
    def _first(self) -> Log:
        return next(iter(self._inputs.values()))

    def _repeated(self, timeout: float) -> list[Record]:
        """Return records of the run that comes next in the journal."""
        partition, end = self._again[0]
        log, ahead = self._inputs[partition], self._read_ahead[partition]
        if not ahead and log.positions[partition] < end:
            ahead.extend(log.poll(timeout))
        records = []
        while ahead and ahead[0].offset < end:
            records.append(ahead.popleft())
        if ahead or log.positions[partition] >= end or log.exhausted:
            self._again.popleft()
        self._handed_out(records)
        return records

    def _arrived(self, timeout: float) -> list[Record]:
        """Return what has arrived, after it was written down."""
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
        self._handed_out(records)
        return records

    def _handed_out(self, records: Sequence[Record]) -> None:
        if records:
            self._positions[records[0].partition] = records[-1].offset + 1
