"""`Sequencer`: each record once, and the same order again after a restart."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iln_stream.streams import Journal, Record, Run, Sequencer, after, read_journal


class Partition:
    """A partition whose records arrive in bursts, with gaps between offsets."""

    stream, topic_id, n_partitions, connected = "list", None, 3, True

    def __init__(self, partition, offsets, rng, begin=0):
        self.partitions = (partition,)
        self._offsets = [offset for offset in offsets if offset >= begin]
        self._rng = rng
        self._position = begin
        self.closed = False

    @property
    def positions(self):
        return {self.partitions[0]: self._position}

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
        return [Record(offset, b"", self.partitions[0]) for offset in taken]

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
        Partition(p, offsets_of(seed, p, n), rng, positions.get(p, 0)) for p, n in enumerate(sizes)
    ]


def read(sequencer, at_most=10**9):
    taken = []
    while not sequencer.exhausted and len(taken) < at_most:
        taken += [(r.partition, r.offset) for r in sequencer.poll(0.01)]
    return taken


def test_each_record_comes_once_in_its_partitions_order():
    """In any order of arrival, each record comes once, in its partition's offset order."""
    sizes = (50, 0, 3_000)
    taken = read(Sequencer(inputs(1, sizes)))
    for partition, n in enumerate(sizes):
        assert [o for p, o in taken if p == partition] == offsets_of(1, partition, n)
    # Not one partition after the other: no partition waits for the end of another.
    assert taken.index((0, offsets_of(1, 0, 50)[-1])) < len(taken) - 100


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
        runs = after(read_journal(path), positions)
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
        taken += [(r.partition, r.offset) for r in sequencer.poll(0.01)]
        assert not taken or disk[-1] == ("fsync", path, path.read_bytes())
        written = dict(read_journal(path))
        for partition, offset in taken:
            assert offset < written[partition]
    assert sequencer.positions == {p: offsets_of(3, p, 40)[-1] + 1 for p in (0, 1)}


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
    runs = [Run(0, 3), Run(1, 2), Run(0, 5)]

    class All(random.Random):
        def choice(self, options):
            return 1500

    parts = [Partition(0, range(8), All()), Partition(1, range(2), All())]
    sequencer = Sequencer(parts, None, runs)
    assert read(sequencer) == [
        *((0, n) for n in range(3)),
        (1, 0),
        (1, 1),
        *((0, n) for n in range(3, 8)),
    ]


@pytest.mark.parametrize("timeout", [0.0, 0.05])
def test_nothing_to_read(timeout):
    """Without records `poll` returns nothing after its timeout."""

    class Waiting(Partition):
        exhausted = False

    sequencer = Sequencer([Waiting(0, [], random.Random(1)), Waiting(1, [], random.Random(2))])
    assert sequencer.poll(timeout) == []
