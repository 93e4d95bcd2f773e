"""The kept order: how much of it is kept, and for which snapshots."""

import random

import pytest
from streams.test_sequencer import Partition

from iln_stream.service.order import KeptOrder
from iln_stream.snapshots import Header, Snapshot, SnapshotFolder
from iln_stream.streams import Journal, Run, read_journal

RUNS = [Run(0, 300), Run(1, 200), Run(0, 500), Run(1, 400), Run(0, 900)]


def header(positions, epoch=1, topic_id="a"):
    return Header("events", positions, topic_id, 2, epoch, {}, seed=1, saved_at="2026-01-31")


@pytest.fixture
def folder(tmp_path):
    return SnapshotFolder(tmp_path)


def partitions(positions, n=1_000, topic_id="a"):
    made = [Partition(p, range(n), random.Random(p), positions.get(p, 0)) for p in (0, 1)]
    for each in made:
        each.topic_id = topic_id
    return made


def kept(folder, resumed, epoch=9, **more):
    """What is repeated, and what the new journal holds, where a run of this epoch takes over."""
    order = KeptOrder(folder, epoch, resumed, partitions(resumed.positions, **more), keep=3)
    order.source.close()
    return list(order.source._again), read_journal(folder.path / f"{epoch:06}.journal")


def store(folder, *headers):
    for each in headers:
        folder.write(Snapshot(each, {}))


def test_what_comes_after_the_snapshot_is_repeated(folder):
    """Runs behind the snapshot come again; those that an older one would need stay."""
    old, new = header({0: 300, 1: 0}), header({0: 500, 1: 200})
    store(folder, old, new)
    Journal(folder.path / "000001.journal", RUNS)
    assert kept(folder, new) == ([Run(1, 400), Run(0, 900)], RUNS[1:])
    assert not (folder.path / "000001.journal").exists()


def test_a_zombies_snapshot_takes_nothing_away(folder):
    """A snapshot of a lower epoch, however far it is, is no bound for what is still needed."""
    resumed = header({0: 300, 1: 200}, epoch=5)
    store(folder, header({0: 900, 1: 900}, epoch=4), resumed)
    Journal(folder.path / "000005.journal", RUNS)
    assert kept(folder, resumed)[0] == RUNS[2:]


def test_another_topics_snapshot_takes_nothing_away(folder):
    """Nor is one of a topic that was deleted and created anew."""
    resumed = header({0: 300, 1: 200}, epoch=5)
    store(folder, header({0: 900, 1: 900}, epoch=4, topic_id="gone"), resumed)
    Journal(folder.path / "000005.journal", RUNS)
    assert kept(folder, resumed)[0] == RUNS[2:]


def test_an_order_before_a_rebuild_is_not_repeated(folder):
    """A rebuild keeps no order, so a journal from before it is of another one."""
    resumed = header({0: 0, 1: 0}, epoch=6)
    store(folder, resumed)
    Journal(folder.path / "000005.journal", RUNS)
    assert kept(folder, resumed) == ([], [])


def test_a_log_that_lost_its_end(folder, caplog):
    """Records that are gone are not waited for, and their order is reported as dropped."""
    resumed = header({0: 300, 1: 200})
    store(folder, resumed)
    Journal(folder.path / "000001.journal", RUNS)
    again, _ = kept(folder, resumed, n=450)
    assert again == [Run(1, 400)]
    assert "partition 0 up to 500" in caplog.text


def test_stored_snapshots_let_runs_go(folder, monkeypatch):
    """Once newer snapshots are stored, the journal forgets what only older ones needed."""
    monkeypatch.setattr("iln_stream.streams.journal._COMPACT_FROM", 0)
    resumed = header({0: 300, 1: 200})
    store(folder, resumed)
    Journal(folder.path / "000001.journal", RUNS)
    order = KeptOrder(folder, 9, resumed, partitions(resumed.positions), keep=2)
    for positions in ({0: 900, 1: 300}, {0: 900, 1: 400}):
        order.stored(header(positions, epoch=9))
    while not order.source.exhausted:
        order.source.poll(0.01)
    order.source.close()
    left = read_journal(folder.path / "000009.journal")
    assert Run(0, 500) not in left
    assert Run(1, 400) in left
