"""What Prometheus is told of snapshots, beside the files that it is told of."""

import threading

import pytest
from prometheus_client import CollectorRegistry

from iln_stream.learners import ShrinkingGradient
from iln_stream.listeners import Metrics, SnapshotMetrics, Snapshotter
from iln_stream.prequential import Step
from iln_stream.snapshots import Header, Place, Saver, Snapshot, SnapshotFolder
from iln_stream.streams import RiverDatasetSource

LABELS = {"model": "iln", "partition": "0"}
NOON = "2026-01-31T12:00:00.000+00:00"
NOON_POSIX = 1769860800


@pytest.fixture
def folder(tmp_path):
    return SnapshotFolder(tmp_path)


@pytest.fixture
def registry():
    return CollectorRegistry()


def taken_at_noon(next_offset):
    header = Header("events", 0, None, 1, next_offset, 1, {}, seed=1, saved_at=NOON)
    return Snapshot(header, {"learner": {"n": next_offset}})


def snapshotter(saver, registry, begin=0):
    """One that saves every ten records and appears in the registry."""
    learner, source = ShrinkingGradient(), RiverDatasetSource([], "nothing")
    made = Snapshotter(taken_at_noon, saver, 10, 10**9, next_offset=begin)
    watched = Metrics(registry).watch(learner, source, "iln")
    SnapshotMetrics(registry).watch(watched, made)
    return made


def told(registry, name):
    return registry.get_sample_value(f"iln_snapshot_{name}", LABELS)


def steps(listener, *offsets):
    for offset in offsets:
        listener.on_step(Step(offset, None, None, 1.0, 0.0, 0.5, False, 0.0))


def test_only_what_is_stored_is_told(folder, registry):
    """A snapshot that is on its way protects nothing yet, so it is not told as there."""
    stored = threading.Event()
    saver = Saver(folder, [lambda: stored.wait(30)])
    listener = snapshotter(saver, registry)
    steps(listener, *range(12))
    assert saver.busy
    assert told(registry, "lag") == 12
    assert told(registry, "offset") is None
    assert told(registry, "last_success_timestamp_seconds") is None
    stored.set()
    saver.finish()
    assert told(registry, "lag") == 2
    assert told(registry, "offset") == 10
    assert told(registry, "last_success_timestamp_seconds") == NOON_POSIX
    assert told(registry, "size_bytes") == (folder.path / Place(1, 10).name).stat().st_size
    assert told(registry, "duration_seconds") > 0


def test_a_restored_run_tells_of_the_snapshot_it_goes_on_from(folder, registry):
    """A run that begins with old state and can't save has an old snapshot, not none."""
    newest = taken_at_noon(500).header
    listener = snapshotter(Saver(folder, newest=newest), registry, begin=500)
    assert told(registry, "offset") == 500
    assert told(registry, "last_success_timestamp_seconds") == NOON_POSIX
    assert told(registry, "lag") == 0
    assert told(registry, "size_bytes") is None
    steps(listener, 503)
    assert told(registry, "lag") == 4


def test_lost_records_are_no_unsaved_ones(folder, registry):
    """What retention deleted before it was learned can't be read again: the lag leaves it out."""
    newest = taken_at_noon(500).header
    snapshotter(Saver(folder, newest=newest), registry, begin=800)
    assert told(registry, "lag") == 0
