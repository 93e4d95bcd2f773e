"""Several partitions as one source with one order."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import accumulate, groupby
from math import inf
from operator import attrgetter, itemgetter
from time import monotonic

from iln_stream.streams.base import Log, Record, StreamPartition
from iln_stream.streams.journal import Journal, PartitionRun
from iln_stream.streams.log import passed_on


def runs_by_time(times: Sequence[Sequence[float]], more: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the order of the records at hand, as far as it is known.

    Each partition keeps its own order. A record later than the last one at hand of a partition that
    has more may come after records that are still to be read, so it is left out. Of equal times,
    that of the partition listed first comes first. A single record whose time lies in the future
    takes the time of its successor, so that it does not hold back those behind it.

    Parameters
    ----------
    times
        Times of the records at hand, by partition.
    more
        Whether a partition has more records than those.

    Returns
    -------
    list of (int, int)
        Runs: index of the partition, and how many of its next records are taken.

    Examples
    --------
    >>> from iln_stream.streams.sequencer import runs_by_time
    >>> runs_by_time([[1.0, 2.0, 5.0], [2.0, 4.0]], more=[False, True])
    [(0, 2), (1, 2)]

    """
    # Times that never decrease; a peak of one record is cut off.
    ascending = [[*accumulate(map(min, each, [*each[1:], inf]), max)] for each in times]
    until = min(
        (each[-1] for each, has_more in zip(ascending, more, strict=True) if has_more and each),
        default=inf,
    )
    order = [
        (time, number) for number, each in enumerate(ascending) for time in each if time <= until
    ]
    order.sort(key=itemgetter(0))  # stable, which decides among equal times
    return [(number, sum(1 for _ in run)) for number, run in groupby(order, key=itemgetter(1))]


_LONGEST_RUN = 1_000
"""Maximum number of records from one partition before the next one's turn."""

_WAIT_SECONDS = 0.02
"""Longest wait for one partition while others may have records."""

_PATIENCE_SECONDS = 2.0
"""Longest wait for records that a partition is known to have, before others go on without it."""

_PATIENCE_FOR_LABELS = 0.2
"""The same for labels, once some were fetched: predictions should not wait for an open transaction,
whose records count as unread."""


class Sequencer:
    """Reads several partitions as one stream, and keeps the order in which it returned records.

    Before it returns records, it writes their partition, and the offset after them, to a journal.
    After a restart it first repeats the rest of the order in the journal, and then goes on.

    Partitions of one log are read in order of arrival, in turns. It does not order their records by
    time, so no partition has to wait for another.

    With partitions of a second log, of labels, the records at hand are ordered by their times, or
    if those of a partition say none, all by when they were written: the times of two clocks, such
    as of events in March that are imported in May with labels without times, have no order. If both
    logs have much to read, as after a downtime, labels so come as long after their events as
    when both were read live: reading in turns, labels would come before their events, or events
    would wait in masses. A partition that has no unread record is never waited for, nor is one
    whose broker is away. One that has unread records, of which none was fetched yet, is waited for,
    2 seconds at most; after the start, labels 0.2 seconds. In a run that keeps up, all records at
    hand are returned at once.

    Parameters
    ----------
    inputs
        The partitions, each opened at its position: first those of the log of events, then those
        of the log of labels; of equal times, the event comes first.
    journal
        Where to keep the order. None: the order is not kept, so the run can't be resumed.
    again
        Runs in the journal after the positions of the inputs, to be repeated.
    time_of
        Returns the time that a record says, in POSIX seconds; None: it says none. By default when
        it was written. Used only with labels.
    """

    topic_id: str | None = passed_on("_events.topic_id")
    n_partitions: int = passed_on("_events.n_partitions")

    def __init__(
        self,
        inputs: Sequence[Log],
        journal: Journal | None = None,
        again: Iterable[PartitionRun] = (),
        time_of: Callable[[Record], float | None] | None = None,
    ) -> None:
        self._inputs = {StreamPartition(log.stream, log.partitions[0]): log for log in inputs}
        self._journal = journal
        self._again = deque(run for run in again if run.origin in self._inputs)
        time_of = time_of or attrgetter("timestamp")  # when it was written
        self._read_ahead = {origin: _ReadAhead(time_of) for origin in self._inputs}
        self._turn = deque(self._inputs)
        self._positions = {origin: log.positions[origin] for origin, log in self._inputs.items()}
        self._missing_since: dict[StreamPartition, float] = {}
        self.stream = inputs[0].stream
        """Name of the first log."""
        self._events = PartitionedLog([log for log in inputs if log.stream == self.stream])
        labels = [log for log in inputs if log.stream != self.stream]
        # those of the log of labels; None: there is none
        self.labels = PartitionedLog(labels) if labels else None
        self.partitions = self._events.partitions  # partitions of the first log

    @property
    def positions(self) -> Mapping[StreamPartition, int]:
        """Offset after the last record that was returned, by partition of both logs."""
        return dict(self._positions)

    @property
    def ends(self) -> Mapping[StreamPartition, int]:
        """Offset after the last known record, by partition of both logs."""
        return {origin: log.ends[origin] for origin, log in self._inputs.items()}

    @property
    def exhausted(self) -> bool:
        """Whether all records of all partitions were returned."""
        return (
            not self._again
            and not any(ahead.records for ahead in self._read_ahead.values())
            and all(log.exhausted for log in self._inputs.values())
        )

    @property
    def lag(self) -> int | None:
        """Sum of the lags of the first log's partitions; None if one is unknown.

        Safe from any thread.
        """
        return self._lag(self._events)

    @property
    def labels_lag(self) -> int | None:
        """The same of the log of labels; None, too, if there is none."""
        return None if self.labels is None else self._lag(self.labels)

    @property
    def connected(self) -> bool:
        """Whether all partitions of the first log are connected. Safe from any thread."""
        return self._events.connected

    def poll(self, timeout: float) -> Sequence[Record]:
        """Return the next records after up to `timeout` seconds; the journal has their order."""
        if self._again:
            return self._repeated(timeout)
        records = self._by_time(timeout) if self.labels else self._in_turns(timeout)
        if records and self._journal is not None:
            self._journal.sync()
        return records

    def stop_here(self) -> None:
        for log in self._inputs.values():
            log.stop_here()

    def close(self) -> None:
        """Close the partitions and the journal."""
        with ExitStack() as stack:
            if self._journal is not None:
                stack.callback(self._journal.close)
            for log in self._inputs.values():
                stack.callback(log.close)

    def _lag(self, logs: "PartitionedLog") -> int | None:
        lag = logs.lag
        ahead = sum(len(a.records) for o, a in self._read_ahead.items() if o.stream == logs.stream)
        return None if lag is None else lag + ahead

    def _repeated(self, timeout: float) -> list[Record]:
        records: list[Record] = []
        while self._again and len(records) < _LONGEST_RUN:
            origin, end = self._again[0]
            log, ahead = self._inputs[origin], self._read_ahead[origin]
            if not ahead.records and log.positions[origin] < end:
                self._fetch(origin, 0.0 if records else timeout)
            taken = ahead.take_before(end)
            self._move_behind(taken)
            records += taken
            if not (ahead.records or log.positions[origin] >= end or log.exhausted):
                break  # the rest of the run is still to be fetched
            self._again.popleft()
        return records

    def _in_turns(self, timeout: float) -> list[Record]:
        """Return records that have arrived, and write their order to the journal."""
        deadline = monotonic() + timeout
        records = [record for _ in self._inputs for record in self._next_run(0.0)]
        while not records and not self.exhausted and (left := deadline - monotonic()) > 0:
            records = self._next_run(min(left, _WAIT_SECONDS))
        return records

    def _next_run(self, timeout: float) -> list[Record]:
        origin = self._next_turn()
        ahead = self._read_ahead[origin]
        if not ahead.records:
            self._fetch(origin, timeout)
        return self._take([(origin, min(len(ahead.records), _LONGEST_RUN))])

    def _by_time(self, timeout: float) -> list[Record]:
        """Return records that have arrived, by time, and write their order to the journal."""
        deadline = monotonic() + timeout
        while True:
            for origin, ahead in self._read_ahead.items():
                if not ahead.records:
                    self._fetch(origin, 0.0)
            missing = self._missing()
            records = [] if missing else self._take(self._runs_by_time())
            left = deadline - monotonic()
            if records or self.exhausted or left <= 0:
                return records
            origin = missing[0] if missing else self._next_turn()
            if not self._read_ahead[origin].records:
                self._fetch(origin, min(left, _WAIT_SECONDS))

    def _missing(self) -> list[StreamPartition]:
        """Return the partitions to wait for: they have unread records and none was fetched."""
        now = monotonic()
        found = []
        for origin, log in self._inputs.items():
            if self._read_ahead[origin].records or not _has_more(log):
                self._missing_since.pop(origin, None)
            elif now - self._missing_since.setdefault(origin, now) < self._patience(origin):
                found.append(origin)
        return found

    def _patience(self, origin: StreamPartition) -> float:
        is_new = origin.stream == self.stream or not self._read_ahead[origin].was_filled
        return _PATIENCE_SECONDS if is_new else _PATIENCE_FOR_LABELS

    def _runs_by_time(self) -> list[tuple[StreamPartition, int]]:
        """Return partitions and how many of their next records are taken, in order."""
        waiting = [p for p, ahead in self._read_ahead.items() if ahead.records]
        if len(waiting) < 2:
            return [(p, len(self._read_ahead[p].records)) for p in waiting]
        ahead = [self._read_ahead[p] for p in waiting]
        for each in ahead:
            each.read_times()
        own = all(each.has_times for each in ahead)
        times = [each.times(own) for each in ahead]
        more = [_has_more(self._inputs[p]) for p in waiting]
        return [(waiting[number], count) for number, count in runs_by_time(times, more)]

    def _take(self, runs: Sequence[tuple[StreamPartition, int]]) -> list[Record]:
        """Return the next records of these partitions, once they are in the journal."""
        records: list[Record] = []
        written: list[PartitionRun] = []
        for origin, count in runs:
            if taken := self._read_ahead[origin].take(count):
                written.append(PartitionRun(origin, taken[-1].offset + 1))
                self._move_behind(taken)
                records += taken
        if written and self._journal is not None:
            self._journal.append(*written)
        return records

    def _fetch(self, origin: StreamPartition, timeout: float) -> None:
        ahead = self._read_ahead[origin]
        ahead.records.extend(self._inputs[origin].poll(timeout))
        ahead.was_filled = ahead.was_filled or bool(ahead.records)

    def _next_turn(self) -> StreamPartition:
        self._turn.rotate(-1)
        return self._turn[0]

    def _move_behind(self, records: Sequence[Record]) -> None:
        if records:
            self._positions[records[0].origin] = records[-1].offset + 1


class PartitionedLog:
    """One log as the sum of its partitions."""

    topic_id: str | None = passed_on("_first.topic_id")
    n_partitions: int = passed_on("_first.n_partitions")  # of the topic

    def __init__(self, logs: Sequence[Log]) -> None:
        self._logs, self._first = logs, logs[0]
        self.stream = logs[0].stream  # name of the log
        self.partitions = tuple(log.partitions[0] for log in logs)

    @property
    def lag(self) -> int | None:
        """Sum of the partitions' lags; None if one is unknown. Safe from any thread."""
        lags = [log.lag for log in self._logs]
        return None if None in lags else sum(lag or 0 for lag in lags)

    @property
    def connected(self) -> bool:
        """Whether all partitions are connected. Safe from any thread."""
        return all(log.connected for log in self._logs)


class _ReadAhead:
    """Records of a partition that were fetched but not returned yet."""

    def __init__(self, time_of: Callable[[Record], float | None]) -> None:
        self.records: deque[Record] = deque()
        self.was_filled = False
        self._time_of = time_of
        self._times: deque[float | None] = deque()  # of the first records

    def read_times(self) -> None:
        """Read the times that the records say."""
        for index in range(len(self._times), len(self.records)):
            self._times.append(self._time_of(self.records[index]))

    @property
    def has_times(self) -> bool:
        return any(time is not None for time in self._times)

    def times(self, own: bool) -> list[float]:
        """Return the records' times, their own or of writing; an unknown one is the one before."""
        found, last = [], -inf
        for record, time in zip(self.records, self._times, strict=True):
            known = record.timestamp if time is None or not own else time
            last = last if known is None else known
            found.append(last)
        return found

    def take(self, count: int) -> list[Record]:
        for _ in range(min(count, len(self._times))):
            self._times.popleft()
        return [self.records.popleft() for _ in range(count)]

    def take_before(self, end: int) -> list[Record]:
        """Remove and return the next records with offsets before `end`."""
        count = 0
        for record in self.records:
            if record.offset >= end:
                break
            count += 1
        return self.take(count)


def _has_more(log: Log) -> bool:
    """Whether a partition has records to fetch, as far as is known."""
    return bool(log.lag) and log.connected and not log.exhausted
