"""`Sequencer`: each record once, and the same order again after a restart."""

import random
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.streams import (
    Journal,
    PartitionRun,
    Record,
    Sequencer,
    StreamPartition,
    after,
    read_journal,
)

P = partial(StreamPartition, "list")
LABELS = StreamPartition("labels", 0)


class Partition:
    """A partition whose records arrive in bursts, with gaps between offsets."""

    topic_id, n_partitions, connected = None, 3, True

    def __init__(self, origin, offsets, rng, begin=0):
        self.origin, self.stream, self.partitions = origin, origin.stream, (origin.partition,)
        self._offsets = [offset for offset in offsets if offset >= begin]
        self._rng = rng
        self._position = begin
        self.closed = False

    @property
    def positions(self):
        return {self.origin: self._position}

    @property
    def exhausted(self):
        return not self._offsets

    @property
    def lag(self):
        return len(self._offsets)

    def poll(self, timeout):
        n = self._rng.choice([0, 1, 2, 7, 1500])
        taken, self._offsets = self._offsets[:n], self._offsets[n:]
        if taken:
            self._position = taken[-1] + 1
        return [Record(offset, b"", self.origin) for offset in taken]

    def stop_here(self):
        self._offsets = []

    def close(self):
        self.closed = True


def offsets_of(seed, partition, n):
    rng = random.Random(f"{seed} {partition}")
    return sorted(rng.sample(range(3 * n), n))


def inputs(seed, sizes, positions=None, arrival=0):
    rng = random.Random(f"{seed} {arrival}")
    positions = positions or {}
    return [
        Partition(P(p), offsets_of(seed, p, n), rng, positions.get(P(p), 0))
        for p, n in enumerate(sizes)
    ]


def read(sequencer, at_most=10**9):
    taken = []
    while not sequencer.exhausted and len(taken) < at_most:
        taken += [(r.origin, r.offset) for r in sequencer.poll(0.01)]
    return taken


def test_each_record_comes_once_in_its_partitions_order():
    """In any order of arrival, each record comes once, in its partition's offset order."""
    sizes = (50, 0, 3_000)
    taken = read(Sequencer(inputs(1, sizes)))
    for partition, n in enumerate(sizes):
        assert [o for p, o in taken if p == P(partition)] == offsets_of(1, partition, n)
    # Not one partition after the other: no partition waits for the end of another.
    assert taken.index((P(0), offsets_of(1, 0, 50)[-1])) < len(taken) - 100


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), learned=st.integers(0, 400), crashes=st.integers(1, 3))
def test_a_restart_repeats_the_order(tmp_path_factory, seed, learned, crashes):
    """After a kill at any point, a run from older positions repeats the order in the journal."""
    folder = tmp_path_factory.mktemp("journal")
    sizes, rng = (120, 60, 200), random.Random(seed)
    path = folder / "0.journal"
    sequencer = Sequencer(inputs(seed, sizes), Journal(path, []))
    handed_out = read(sequencer, at_most=learned)
    sequencer.close()
    n_saved = 0
    for crash in range(1, crashes + 1):
        n_saved = rng.randint(n_saved, len(handed_out))
        saved = handed_out[:n_saved]
        positions = {}
        for partition, offset in saved:
            positions[partition] = offset + 1
        runs = after(read_journal(path, ["list", "labels"]), positions)
        path = folder / f"{crash}.journal"
        sequencer = Sequencer(
            inputs(seed, sizes, positions, arrival=crash), Journal(path, runs), runs
        )
        again = read(sequencer, at_most=rng.randint(0, 400))
        shared = min(len(again), len(handed_out) - len(saved))
        assert again[:shared] == handed_out[len(saved) :][:shared]
        handed_out = max(handed_out, saved + again, key=len)
        sequencer.close()


def test_order_is_durable_before_records_are_returned(tmp_path, disk):
    """When `poll` returns records, the journal on disk already has their order."""
    path = tmp_path / "0.journal"
    sequencer = Sequencer(inputs(3, (40, 40)), Journal(path, []))
    taken = []
    while not sequencer.exhausted:
        taken += [(r.origin, r.offset) for r in sequencer.poll(0.01)]
        assert not taken or disk[-1] == ("fsync", path, path.read_bytes())
        written = dict(read_journal(path, ["list", "labels"]))
        for partition, offset in taken:
            assert offset < written[partition]
    assert sequencer.positions == {P(p): offsets_of(3, p, 40)[-1] + 1 for p in (0, 1)}


def test_properties_of_all_partitions(tmp_path):
    """The lag is the sum; one disconnected partition disconnects all; `close` closes all."""
    parts = inputs(1, (5, 6))
    sequencer = Sequencer(parts)
    assert (sequencer.lag, sequencer.connected, sequencer.partitions) == (11, True, (0, 1))
    parts[1].connected = False
    assert not sequencer.connected
    sequencer.stop_here()
    assert sequencer.exhausted
    sequencer.close()
    assert all(part.closed for part in parts)


def test_records_beyond_the_written_order_wait(tmp_path):
    """If a repeated run ends within a batch, the rest of the batch keeps its place in the order."""
    runs = [PartitionRun(P(0), 3), PartitionRun(P(1), 2), PartitionRun(P(0), 5)]

    class All(random.Random):
        def choice(self, options):
            return 1500

    parts = [Partition(P(0), range(8), All()), Partition(P(1), range(2), All())]
    sequencer = Sequencer(parts, None, runs)
    assert read(sequencer) == [
        *((P(0), n) for n in range(3)),
        (P(1), 0),
        (P(1), 1),
        *((P(0), n) for n in range(3, 8)),
    ]


@pytest.mark.parametrize("timeout", [0.0, 0.05])
def test_nothing_to_read(timeout):
    """Without records `poll` returns nothing after its timeout."""

    class Waiting(Partition):
        exhausted = False

    sequencer = Sequencer(
        [Waiting(P(0), [], random.Random(1)), Waiting(P(1), [], random.Random(2))]
    )
    assert sequencer.poll(timeout) == []


class Timed(Partition):
    """A partition whose records have times, and arrive as many at once as `batch` says."""

    def __init__(self, origin, times, batch=10**9, begin=0):
        super().__init__(origin, range(len(times)), random.Random(1), begin)
        self._times, self._batch = times, batch
        self.n_polls = 0

    def poll(self, timeout):
        self.n_polls += 1
        taken, self._offsets = self._offsets[: self._batch], self._offsets[self._batch :]
        if taken:
            self._position = taken[-1] + 1
        return [Record(o, b"", self.origin, self._times[o]) for o in taken]


def joined(n=3_000, delay=100.5, batches=(700, 150)):
    """Return an hour of events and their labels, each `delay` after its event."""
    times = [float(number) for number in range(n)]
    return [Timed(P(0), times, batches[0]), Timed(LABELS, [t + delay for t in times], batches[1])]


@pytest.mark.parametrize("silent", [None, P(0), LABELS])
def test_labels_come_after_their_events_by_time(silent):
    """On a backlog each label comes as long after its event as when both were read live. If the
    records of one log say no times, both are ordered by when they were written, however long
    before that the times are which the others say."""

    def time_of(record):
        return None if record.origin == silent else record.timestamp / 7 - 1e7

    taken = read(Sequencer(joined(), time_of=time_of if silent else None))
    time = {P(0): 0.0, LABELS: 100.5}
    times = [time[partition] + offset for partition, offset in taken]
    assert times == sorted(times)
    assert len(taken) == 6_000


def test_nothing_waits_for_a_partition_without_records():
    """Records of one log come at once while the other has none."""

    class Empty(Timed):
        exhausted = False

    for parts in (
        [Timed(P(0), [1.0, 2.0]), Empty(LABELS, [])],
        [Empty(P(0), []), Timed(LABELS, [1.0, 2.0])],
    ):
        assert len(Sequencer(parts).poll(0.0)) == 2


def test_a_log_whose_broker_is_away_is_not_waited_for():
    """Events go on while the labels' broker is away, and labels follow when it is back."""
    events, labels = Timed(P(0), [1.0, 2.0]), Timed(LABELS, [1.5, 2.5])
    labels.connected, at_hand, labels._offsets = False, labels._offsets, [0]
    labels.poll = lambda timeout: []
    sequencer = Sequencer([events, labels])
    assert [r.origin for r in sequencer.poll(0.0)] == [P(0), P(0)]
    assert (sequencer.connected, sequencer.labels.connected) == (True, False)
    del labels.poll
    labels.connected, labels._offsets = True, at_hand
    assert [r.origin for r in sequencer.poll(0.0)] == [LABELS, LABELS]


def test_records_that_are_not_fetched_yet_are_waited_for_a_while(monkeypatch):
    """A partition with unread records that never come is waited for only so long."""
    monkeypatch.setattr("iln_stream.streams.sequencer._PATIENCE_SECONDS", 0.2)
    events, labels = Timed(P(0), [1.0, 2.0]), Timed(LABELS, [1.5])
    labels.poll = lambda timeout: []
    sequencer = Sequencer([events, labels])
    assert sequencer.poll(0.05) == []
    assert [r.origin for r in sequencer.poll(10.0)] == [P(0), P(0)]


def test_events_hardly_wait_for_labels_in_an_open_transaction(monkeypatch):
    """Once labels were fetched, events do not wait long for more that are not committed."""
    monkeypatch.setattr("iln_stream.streams.sequencer._PATIENCE_SECONDS", 1e9)
    events, labels = Timed(P(0), [1.0, 2.0, 3.0], batch=2), Timed(LABELS, [1.5, 9.0], batch=1)
    sequencer = Sequencer([events, labels])
    first = sequencer.poll(0.0)
    assert [(r.origin, r.offset) for r in first] == [(P(0), 0), (LABELS, 0)]
    labels.poll = lambda timeout: []
    assert [(r.origin, r.offset) for r in sequencer.poll(60.0)] == [(P(0), 1)]


def test_two_logs(tmp_path):
    """Positions are of both logs; partitions and lag of the first, beside those of the labels."""
    sequencer = Sequencer(joined(n=5))
    assert (sequencer.partitions, sequencer.labels.partitions) == ((0,), (0,))
    assert (sequencer.lag, sequencer.labels_lag) == (5, 5)
    read(sequencer)
    assert sequencer.positions == {P(0): 5, LABELS: 5}
    assert Sequencer(inputs(1, (5, 6))).labels_lag is None


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), learned=st.integers(0, 300))
def test_a_restart_repeats_the_order_of_two_logs(tmp_path_factory, seed, learned):
    """After a kill, the order of events and labels is repeated, whatever is at hand by then."""
    rng = random.Random(seed)

    def parts(positions):
        made = joined(n=150, delay=20.5, batches=(rng.randint(1, 60), rng.randint(1, 60)))
        for each in made:
            begin = positions.get(each.origin, 0)
            each._offsets = [o for o in each._offsets if o >= begin]
            each._position = begin
        return made

    path = tmp_path_factory.mktemp("journal") / "0.journal"
    sequencer = Sequencer(parts({}), Journal(path, []), time_of=lambda _: rng.random())
    handed_out = read(sequencer, at_most=learned)
    sequencer.close()
    saved = handed_out[: rng.randint(0, len(handed_out))]
    positions = {}
    for partition, offset in saved:
        positions[partition] = offset + 1
    again = read(
        Sequencer(parts(positions), None, after(read_journal(path, ["list", "labels"]), positions))
    )
    assert again[: len(handed_out) - len(saved)] == handed_out[len(saved) :]
    assert sorted(saved + again) == sorted((p, o) for p in (P(0), LABELS) for o in range(150))
