"""`ArrivalOrder`: which part of the order is repeated, and which is kept for which snapshots."""

import random
from dataclasses import replace

import pytest
from streams.test_sequencer import Partition
from support.list_source import drained

from iln_stream.errors import SnapshotError
from iln_stream.service.recovery import ArrivalOrder
from iln_stream.snapshots import Header, Snapshot, SnapshotFolder
from iln_stream.streams import Journal, PartitionRun, StreamPartition, read_journal

P, Q = StreamPartition("events", 0), StreamPartition("events", 1)
RUNS = [
    PartitionRun(P, 300),
    PartitionRun(Q, 200),
    PartitionRun(P, 500),
    PartitionRun(Q, 400),
    PartitionRun(P, 900),
]


def header(positions, epoch=1, topic_id="a"):
    return Header("events", positions, topic_id, 2, epoch, {}, seed=1, saved_at="2026-01-31")


@pytest.fixture
def folder(tmp_path):
    return SnapshotFolder(tmp_path)


def partitions(positions, n=1_000, topic_id="a"):
    made = [Partition(p, range(n), random.Random(p.partition), positions.get(p, 0)) for p in (P, Q)]
    for each in made:
        each.topic_id = topic_id
    return made


def all_of(order):
    """Return what is read, as partition and offset."""
    records = [(each.origin, each.offset) for each in drained(order.source, 0.01)]
    order.source.close()
    return records


def kept(folder, resumed, epoch=9, **more):
    """Return what a run of this epoch reads, as partition and offset, and its first journal."""
    order = ArrivalOrder(folder, epoch, resumed, partitions(resumed.positions, **more), keep=3)
    journal = read_journal(folder.path / f"{epoch:06}.journal", ["events"])
    return all_of(order), journal


def repeats(records, positions, runs):
    """Whether records begin with these runs, from these positions."""
    expected, at = [], dict(positions)
    for run in runs:
        expected += [(run.origin, offset) for offset in range(at[run.origin], run.end)]
        at[run.origin] = run.end
    return records[: len(expected)] == expected


def store(folder, *headers):
    for each in headers:
        folder.write(Snapshot(each, {}))


def test_what_comes_after_the_snapshot_is_repeated(folder):
    """Runs after the snapshot are repeated; the journal keeps those that an older one needs."""
    old, new = header({P: 300, Q: 0}), header({P: 500, Q: 200})
    store(folder, old, new)
    Journal(folder.path / "000001.journal", RUNS)
    records, journal = kept(folder, new)
    assert repeats(records, new.positions, [PartitionRun(Q, 400), PartitionRun(P, 900)])
    assert journal == RUNS[1:]
    assert not (folder.path / "000001.journal").exists()


def test_a_zombies_snapshot_takes_nothing_away(folder):
    """A snapshot of a lower epoch, or of a deleted topic with the same name, does not shorten the
    order, however far its positions are."""
    resumed = header({P: 300, Q: 200}, epoch=5)
    older = header({P: 900, Q: 900}, epoch=3, topic_id="gone")
    store(folder, older, header({P: 900, Q: 900}, epoch=4), resumed)
    Journal(folder.path / "000005.journal", RUNS)
    assert repeats(kept(folder, resumed)[0], resumed.positions, RUNS[2:])


@pytest.mark.parametrize("left", [None, 0, 2, 3])
def test_a_journal_that_ends_before_the_snapshot_is_refused(folder, left):
    """A journal that is missing, cut off or an older copy would let records be learned in another
    order than before."""
    old = header({P: 300, Q: 0})
    new = replace(header({P: 900, Q: 200}), ordered=dict(RUNS))
    store(folder, old, new)
    if left is not None:
        Journal(folder.path / "000001.journal", RUNS[:left])
    with pytest.raises(SnapshotError, match=r"up to \d+ is in no journal .*iln-stream rebuild"):
        kept(folder, new)


def test_a_journal_of_another_run_is_refused(folder):
    """A journal of another run on the same log has another order, and one that is missing could
    have had one. Restarts keep the order's name, and only a snapshot that has none, as of an
    earlier release, takes any."""
    resumed = replace(header({P: 300, Q: 0}), order_id="ours")
    store(folder, resumed)
    with pytest.raises(SnapshotError, match=r"000009\.journal is missing, or has the order of"):
        kept(folder, resumed)
    journal = folder.path / "000001.journal"
    Journal(journal, RUNS, "theirs")
    with pytest.raises(SnapshotError, match=r"000001\.journal .* order of another run"):
        kept(folder, resumed)
    Journal(journal, RUNS)
    with pytest.raises(SnapshotError, match=r"000001\.journal .* order of another run"):
        kept(folder, resumed)
    Journal(journal, RUNS, "ours")
    assert repeats(kept(folder, resumed)[0], resumed.positions, RUNS[1:])
    assert read_journal(folder.path / "000009.journal", ["events"], "ours")
    assert kept(folder, header({P: 300, Q: 0}), epoch=10)[1]


@pytest.mark.parametrize("ordered", [{}, {P: 300, Q: 400}])
def test_deleted_records_have_no_order(folder, ordered):
    """The position of a partition may go on without a record, as over deleted ones: the journal is
    whole then. Nor does a rebuild, or a release without this field, write what it reaches."""
    new = replace(header({P: 900, Q: 200}), ordered=ordered)
    store(folder, header({P: 100, Q: 0}), new)
    Journal(folder.path / "000001.journal", RUNS[:2] + RUNS[3:4])
    records, _ = kept(folder, new)
    assert repeats(records, new.positions, [PartitionRun(Q, 400)])


def test_an_order_before_a_rebuild_is_not_repeated(folder):
    """A journal from before a rebuild is ignored, as the rebuild learned in another order."""
    resumed = header({P: 0, Q: 0}, epoch=6)
    store(folder, resumed)
    Journal(folder.path / "000005.journal", RUNS)
    assert kept(folder, resumed)[1] == []


def test_a_log_that_lost_its_end(folder, caplog):
    """A run does not wait for lost records, and logs that it drops their order."""
    resumed = header({P: 300, Q: 200})
    store(folder, resumed)
    Journal(folder.path / "000001.journal", RUNS)
    records, _ = kept(folder, resumed, n=450)
    assert repeats(records, resumed.positions, [PartitionRun(Q, 400)])
    assert "events:0 up to 500" in caplog.text


def test_stored_snapshots_let_runs_go(folder, monkeypatch):
    """Once newer snapshots are stored, the journal forgets runs that only older ones needed."""
    monkeypatch.setattr("iln_stream.streams.journal._COMPACT_FROM", 0)
    monkeypatch.setattr("iln_stream.streams.journal._GROWTH", 0)
    resumed = header({P: 300, Q: 200})
    store(folder, resumed)
    Journal(folder.path / "000001.journal", RUNS)
    order = ArrivalOrder(folder, 9, resumed, partitions(resumed.positions), keep=2)
    for positions in ({P: 900, Q: 300}, {P: 900, Q: 400}):
        order.stored(header(positions, epoch=9))
    all_of(order)
    left = read_journal(folder.path / "000009.journal", ["events"])
    assert PartitionRun(P, 500) not in left
    assert PartitionRun(Q, 400) in left


def test_a_learner_that_is_taken_over_has_its_order_repeated(folder, tmp_path):
    """The order comes from the folder of the snapshot, which keeps it."""
    older = SnapshotFolder(tmp_path / "older")
    older.path.mkdir()
    resumed = header({P: 300, Q: 0}, epoch=5)
    older.write(Snapshot(resumed, {}))
    Journal(older.path / "000005.journal", RUNS)
    made = partitions(resumed.positions)
    order = ArrivalOrder(folder, 1, resumed, made, keep=3, older=older)
    records = all_of(order)
    assert repeats(records, resumed.positions, RUNS[1:])
    assert read_journal(folder.path / "000001.journal", ["events"])[:4] == RUNS[1:]
    assert (older.path / "000005.journal").exists()
